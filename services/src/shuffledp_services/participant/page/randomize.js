// The randomizers of shuffledp.randomizers, for one person: the same law, bit for bit.

/** Randomness of the operating system; `fill` is another source in tests alone. */
export class Rng {
  constructor(fill = (words) => crypto.getRandomValues(words)) {
    this.fill = fill;
  }

  /** Draws a whole number, exactly uniform on [0, 2 ** 53). */
  bits53() {
    const [high, low] = this.fill(new Uint32Array(2));
    return (high >>> 5) * 2 ** 26 + (low >>> 6);
  }

  /** Draws a whole number, exactly uniform on [0, span). */
  below(span) {
    if (!Number.isInteger(span) || span < 1 || span > 2 ** 32) {
      throw new RangeError("Expected a span from 1 to 2 ** 32.");
    }
    // Words past the last multiple of span would favor small results: draw again.
    const limit = 2 ** 32 - (2 ** 32 % span);
    for (;;) {
      const [word] = this.fill(new Uint32Array(1));
      if (word < limit) return word % span;
    }
  }

  /**
   * Draws a coin that comes up true with exactly this chance, every bit of it.
   *
   * One comparison would round the chance to a multiple of 2 ** -53: the next 53 bits
   * decide among equals, as long as the chance has any left.
   */
  coin(chance) {
    if (!(chance >= 0 && chance <= 1)) throw new RangeError("Expected a chance.");
    for (let rest = chance; ; ) {
      const scaled = rest * 2 ** 53;
      const whole = Math.floor(scaled);
      const drawn = this.bits53();
      if (drawn !== whole || scaled === whole) return drawn < whole;
      rest = scaled - whole;
    }
  }
}

/**
 * Returns the chance that a message ignores the answer.
 *
 * The 8e-16 on top cover the rounding of the formula, with an exponential that is good to
 * one unit in the last place: a hair more private than promised, never less.
 *
 * @param {number} epsilon The level.
 * @param {number} inside The share of messages that speak for one answer.
 */
export function blanketChance(epsilon, inside) {
  if (!(epsilon >= 0 && Number.isFinite(epsilon))) throw new RangeError("Expected a level.");
  const decay = Math.exp(-epsilon);
  const low = decay / (inside + (1 - inside) * decay);
  return Math.min(low * (1 + 8e-16), 1);
}

/** k-ary randomized response: any category with the blanket's chance, else one's own. */
export function randomizeCategory(value, count, epsilon, rng) {
  checkWhole(value, count);
  return rng.coin(blanketChance(epsilon, 1 / count)) ? rng.below(count) : value;
}

/**
 * Subset selection: a set of `size` categories, uniform with the probability of the
 * blanket, and otherwise uniform among those with the user's category.
 *
 * @returns {number[]} Categories in ascending order, which tells nothing of how they were
 *   drawn.
 */
export function randomizeSubset(value, count, size, epsilon, rng) {
  checkWhole(value, count);
  if (!Number.isInteger(size) || size < 1 || size >= count) {
    throw new RangeError("Expected a size of subsets below that of all.");
  }
  if (rng.coin(blanketChance(epsilon, size / count))) return uniformSet(size, count, rng);
  // The others are numbered without a gap where the value is.
  const others = uniformSet(size - 1, count - 1, rng);
  return ascending([value, ...others.map((other) => other + (other >= value ? 1 : 0))]);
}

/** Hadamard response: a column, uniform with the blanket's chance, else one's own. */
export function randomizeColumn(value, count, epsilon, rng) {
  checkWhole(value, count);
  const column = rng.below(columns(count));
  const ignores = rng.coin(blanketChance(epsilon, 0.5));
  if (ignores || speaksFor(column, value)) return column;
  const row = value + 1;
  // Turning the bit where the row has its lowest one changes the side.
  return column ^ (row & -row);
}

/** Returns how many columns there are: the smallest power of 2 above the categories. */
export function columns(count) {
  return 2 ** (32 - Math.clz32(count));
}

/** Tells whether a column has an even number of ones in common with a category's row. */
export function speaksFor(column, category) {
  let common = column & (category + 1);
  for (const shift of [16, 8, 4, 2, 1]) common ^= common >>> shift;
  return (common & 1) === 0;
}

/** Draws a uniform set of `size` of the numbers 0, ..., count - 1 (Floyd's algorithm). */
function uniformSet(size, count, rng) {
  const found = new Set();
  for (let last = count - size; last < count; last += 1) {
    const drawn = rng.below(last + 1);
    found.add(found.has(drawn) ? last : drawn);
  }
  return ascending([...found]);
}

function ascending(numbers) {
  return numbers.sort((one, other) => one - other);
}

/** One bit about a number: 1 the more often, the closer it is to the high end. */
export function randomizeNumber(value, low, high, epsilon, rng) {
  const chance = shareOf(value, low, high);
  const fair = rng.coin(blanketChance(epsilon, 0.5));
  return rng.coin(fair ? 0.5 : chance) ? 1 : 0;
}

/**
 * k-ary response about one of `count` equally spaced numbers, to which the value is moved.
 *
 * It is moved to one of the two next to it, at random and without bias. This happens to the
 * value, not to the message: what holds for the numbers of the grid holds for all values.
 */
export function randomizeOnGrid(value, low, high, count, epsilon, rng) {
  const point = roundAtRandom(value, low, high, count - 1, rng);
  return randomizeCategory(point, count, epsilon, rng);
}

/** Rounds a value at random, without bias, to a whole number of `steps` in the range. */
export function roundAtRandom(value, low, high, steps, rng) {
  const place = shareOf(value, low, high) * steps;
  const below = Math.floor(place);
  return rng.coin(place - below) ? below + 1 : below;
}

/** Returns the number that a message of `randomizeOnGrid` stands for. */
export function gridNumber(point, low, high, count) {
  return low + point * (((high / 2 - low / 2) / (count - 1)) * 2);
}

/** Returns where a value lies between the ends of the range, from 0 to 1. */
function shareOf(value, low, high) {
  if (!(value >= low && value <= high && low < high)) {
    throw new RangeError("Expected a number in the range.");
  }
  // Halves, as the length of the range may exceed the largest number.
  const share = (value / 2 - low / 2) / (high / 2 - low / 2);
  return Math.min(Math.max(share, 0), 1);
}

/**
 * Sets of items: each with the level's chance, among a Poisson number of uniform ones.
 *
 * @param {number[]} held Different items; fewer than `setSize` are as good as any.
 * @param {{numItems: number, setSize: number, blanket: number, reportSize: number}} plan
 * @param {number} rate The chance to send an item.
 * @returns {number[]} `reportSize` numbers; `numItems` stands for nothing.
 */
export function randomizeItems(held, plan, rate, rng) {
  const { numItems: buckets, setSize: most, blanket: mean, reportSize } = plan;
  const groups = [{ buckets, most, mean }];
  return randomizeAnswers(held, groups, reportSize, rate, rng).map((number) => number / 2);
}

/**
 * Answers to several questions: each with the level's chance, among Poisson numbers of
 * uniform ones.
 *
 * @param {number[]} picked Different options, counted over all questions.
 * @param {{buckets: number, most: number, mean: number}[]} groups Of each question the
 *   options, how many may be picked, and the noise messages of a person in the mean.
 * @param {number} reportSize Messages of a report.
 * @param {number} rate The chance to send an answer.
 * @returns {number[]} `reportSize` numbers: 2 b adds to option b, and 2 d stands for nothing.
 */
export function randomizeAnswers(picked, groups, reportSize, rate, rng) {
  const total = groups.reduce((sum, { buckets }) => sum + buckets, 0);
  picked.forEach((option) => checkWhole(option, total));
  if (new Set(picked).size !== picked.length) throw new RangeError("Expected other answers.");
  const cap = reportSize - groups.reduce((sum, { most }) => sum + most, 0);
  if (!(cap >= 0)) throw new RangeError("Expected room for all answers.");
  let next = 0;
  const questions = groups.map((group) => {
    const first = next;
    next += group.buckets;
    const own = picked.filter((option) => option >= first && option < next);
    if (own.length > group.most) throw new RangeError(`Expected at most ${group.most} answers.`);
    return { ...group, first, own };
  });
  const sent = [];
  const noise = [];
  for (const { buckets, most, mean, first, own } of questions) {
    for (let place = 0; place < most; place += 1) {
      const isSent = rng.coin(rate);
      sent.push(isSent && place < own.length ? 2 * own[place] : 2 * total);
    }
    const { stop, go } = stopAndGo(mean, cap);
    for (let j = 0; noise.length < cap && goesOn(stop[j], go[j], rng); j += 1) {
      noise.push(2 * (first + rng.below(buckets)));
    }
  }
  const empty = new Array(cap - noise.length).fill(2 * total);
  return [...sent, ...noise, ...empty];
}

/** Returns P(N = j | N >= j) and P(N > j | N >= j) of a Poisson number, for j < cap. */
export function stopAndGo(mean, cap) {
  if (!(mean >= 0 && mean <= 1e5)) throw new RangeError("Expected 0 to 100000 messages.");
  // What is that far beyond both cap and mean is below 1e-20 of what is before.
  const spread = 80 + 20 * Math.ceil(Math.sqrt(mean));
  const last = Math.max(cap, Math.ceil(mean)) + spread;
  const stop = new Float64Array(last);
  const go = new Float64Array(last);
  // tail is P(N >= j) / P(N = j), a sum of positive terms: nothing cancels.
  let tail = 1;
  for (let j = last - 1; j >= 0; j -= 1) {
    const ratio = mean / (j + 1);
    const here = 1 + ratio * tail;
    stop[j] = 1 / here;
    go[j] = Number.isFinite(here) ? ratio * (tail / here) : 1;
    tail = here;
  }
  return { stop, go };
}

function goesOn(stop, go, rng) {
  // A coin of the rarer side keeps its digits.
  return go <= 0.5 ? rng.coin(go) : !rng.coin(stop);
}

function checkWhole(value, count) {
  if (!Number.isInteger(value) || value < 0 || value >= count) {
    throw new RangeError("Expected one of the answers.");
  }
}
