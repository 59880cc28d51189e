// Pearson's test of drawn counts against stated probabilities.

/** Returns the probability of counts that are as far off, or more: P(X > x), Pearson's. */
export function pValue(counts, probabilities) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const statistic = counts.reduce((sum, count, cell) => {
    const expected = total * probabilities[cell];
    return sum + (count - expected) ** 2 / expected;
  }, 0);
  return upperTail(statistic, counts.length - 1);
}

/**
 * Returns P(X > x) of chi-square: 2 (1 - Phi(sqrt x)) or exp(-x / 2), and then the recurrence
 * Q(a + 1, y) = Q(a, y) + y^a exp(-y) / Gamma(a + 1), all of whose terms are positive.
 */
export function upperTail(x, degrees) {
  const y = x / 2;
  let a = degrees % 2 ? 0.5 : 1;
  let tail = degrees % 2 ? complementaryError(Math.sqrt(y)) : Math.exp(-y);
  // y^a exp(-y) / Gamma(a + 1)
  let term = degrees % 2 ? (Math.sqrt(y) * Math.exp(-y)) / (Math.sqrt(Math.PI) / 2) : y * Math.exp(-y);
  for (; a < degrees / 2; a += 1) {
    tail += term;
    term *= y / (a + 1);
  }
  return tail;
}

/** Returns erfc: a series near 0, and a continued fraction beyond. */
function complementaryError(x) {
  const scale = Math.exp(-x * x) / Math.sqrt(Math.PI);
  if (x < 2) {
    let sum = x;
    for (let n = 1, term = x; n < 200; n += 1) {
      term *= (x * x) / (n + 0.5);
      sum += term;
    }
    return 1 - 2 * scale * sum;
  }
  let fraction = 0;
  for (let n = 200; n >= 1; n -= 1) fraction = n / 2 / (x + fraction);
  return scale / (x + fraction);
}
