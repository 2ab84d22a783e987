/** Counts how often other work has its turn while something is done in slices. */

export async function turnsUntil(promise: Promise<unknown>): Promise<number> {
  const state = { turns: 0, isSettled: false };
  const settled = promise.finally(() => (state.isSettled = true));
  while (!state.isSettled) {
    state.turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await settled;
  return state.turns;
}
