/** A small seeded generator (mulberry32): the same seed and stream give the same numbers from 0 to below 1. */
export function createRandom(seed: number, stream = 0): () => number {
  let state = (seed ^ Math.imul(stream, 0x9e3779b9)) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
