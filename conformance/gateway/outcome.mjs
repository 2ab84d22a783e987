/** Compares runs through the gateway with the run against the server itself. Pure functions. */

/**
 * Counts the scored scenarios and those that passed. Names those that failed, scored or not, and the checks of the
 * direct run that did not pass. `unscored` has a few words about each scenario that the suite runs but does not score.
 */
export function outcomeOf(scenarios, direct = scenarios) {
  const all = Object.entries(direct);
  const scored = all.filter(([, { isScored }]) => isScored);
  const unscored = all.filter(([, { isScored }]) => !isScored);
  const failed = scored.map(([name]) => name).filter((name) => !isPassed(scenarios[name]));
  return {
    passed: scored.length - failed.length,
    of: scored.length,
    failed,
    unscored: Object.fromEntries(unscored.map(([name]) => [name, wordsFor(scenarios[name])])),
    unscoredFailed: unscored
      .filter(([name, { ok, checks }]) => !ok || (idsOf(checks).length > 0 && !isPassed(scenarios[name])))
      .map(([name]) => name),
    missing: all.flatMap(([name, { checks }]) => missingOf(name, checks, scenarios[name]?.checks ?? [])),
    checks: new Set(scored.flatMap(([name]) => idsOf(scenarios[name]?.checks ?? []).map((id) => `${name}:${id}`))).size,
  };
}

function wordsFor(scenario) {
  const count = new Set(idsOf(scenario?.checks ?? [])).size;
  if (!isPassed(scenario)) return scenario?.ok === true ? "nothing checked" : "failed";
  return count === 1 ? "passed, 1 check" : `passed, ${count} checks`;
}

/**
 * Whether a scenario passed: the suite counts a scenario without a failed check as passed, even if nothing was checked.
 */
function isPassed(scenario) {
  return scenario?.ok === true && idsOf(scenario.checks).length > 0;
}

function idsOf(checks) {
  return checks.filter(({ status }) => status === "SUCCESS").map(({ id }) => id);
}

/** Returns the checks that passed against the server itself but not here: `scenario:check`, and why. */
function missingOf(name, direct, checks) {
  const passed = new Set(idsOf(checks));
  return [...new Set(idsOf(direct))]
    .filter((id) => !passed.has(id))
    .map((id) => {
      const { status = "not run", errorMessage = "" } = checks.find((check) => check.id === id) ?? {};
      return { check: `${name}:${id}`, why: [status, errorMessage].filter(Boolean).join(": ") };
    });
}

/**
 * Returns a sentence about each unexpected outcome of one run.
 * @param excused Why scenarios fail, and why single checks (`scenario:check`) do not pass in scenarios that do not
 * fail.
 */
export function surprisesIn(key, { failed, unscoredFailed, missing }, excused = {}) {
  const isExcused = (check) => check in excused || check.split(":")[0] in excused;
  const missed = new Set([...failed, ...unscoredFailed, ...missing.map(({ check }) => check)]);
  return [
    ...failed.filter((name) => !(name in excused)).map((name) => `${key}: ${name} failed`),
    ...unscoredFailed.filter((name) => !(name in excused)).map((name) => `${key}: ${name} failed (not scored)`),
    ...missing
      .filter(({ check }) => !isExcused(check))
      .map(({ check, why }) => `${key}: ${check} did not pass (${why})`),
    ...Object.keys(excused)
      .filter((name) => !missed.has(name))
      .map((name) => `${key}: ${name} passed and needs no excuse any more`),
  ];
}
