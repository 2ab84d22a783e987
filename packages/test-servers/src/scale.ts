/** How often a repeated test repeats: in full with `npm test -- --long`, otherwise a tenth of it, or a given number. */

export function scaled(full: number, plain: number = Math.ceil(full / 10)): number {
  return process.env["FAIRLEAD_LONG"] === "1" ? full : plain;
}

/** The seed of random tests: `FAIRLEAD_SEED` to repeat a run, otherwise a new one. Print it where it is used. */
export function seed(): number {
  const given = Number(process.env["FAIRLEAD_SEED"]);
  return Number.isInteger(given) && given > 0 ? given : Math.trunc(Math.random() * 2 ** 31) + 1;
}
