// Exact uniform numbers and Bernoulli draws from words of 32 random bits.

/** Fills an array of one or two words with random bits, and returns them. */
export type WordSource = (words: Uint32Array<ArrayBuffer>) => ArrayLike<number>;

/** Randomness of the operating system, or of another source of words. */
export class Rng {
  readonly #fill: WordSource;
  // Devices draw often: an array for each word would be most of the work.
  readonly #one = new Uint32Array(1);
  readonly #two = new Uint32Array(2);

  constructor(fill: WordSource = (words) => crypto.getRandomValues(words)) {
    this.#fill = fill;
  }

  /** Draws a whole number, exactly uniform on [0, 2 ** 53). */
  bits53(): number {
    const words = this.#fill(this.#two);
    return (words[0]! >>> 5) * 2 ** 26 + (words[1]! >>> 6);
  }

  /** Draws a whole number, exactly uniform on [0, span), for a span up to 2 ** 32. */
  below(span: number): number {
    if (!Number.isInteger(span) || span < 1 || span > 2 ** 32) {
      throw new RangeError("Expected a span from 1 to 2 ** 32.");
    }
    // Words past the last multiple of span would favor small results: draw again.
    const limit = 2 ** 32 - (2 ** 32 % span);
    for (;;) {
      const word = this.#fill(this.#one)[0]!;
      if (word < limit) return word % span;
    }
  }

  /**
   * Draws true with exactly this probability, every bit of it.
   *
   * One comparison would round the probability to a multiple of 2 ** -53: the next 53 bits
   * decide among equals, as long as the probability has any left.
   */
  bernoulli(probability: number): boolean {
    if (!(probability >= 0 && probability <= 1)) {
      throw new RangeError("Expected a probability.");
    }
    for (let rest = probability; ; ) {
      const scaled = rest * 2 ** 53;
      const whole = Math.floor(scaled);
      const drawn = this.bits53();
      if (drawn !== whole || scaled === whole) return drawn < whole;
      rest = scaled - whole;
    }
  }
}

/** What randomizers draw with. */
export type Draws = Pick<Rng, "below" | "bernoulli">;
