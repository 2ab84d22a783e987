/** Compares runs through the gateway with the run against the server itself. Pure functions. */

/** The scenarios that count: scored scenarios, and scenarios in which the gateway itself must check headers. */
const ownScenarios = ["http-header-validation", "http-custom-header-server-validation", "server-session-lifecycle"];

/**
 * Counts the scored scenarios and those that passed. Names those that failed, and the checks of the direct run that did
 * not pass.
 */
export function outcomeOf(scenarios, direct = scenarios) {
  const scored = Object.entries(direct).filter(([, { isScored }]) => isScored);
  const compared = Object.entries(direct).filter(([name, { isScored }]) => isScored || ownScenarios.includes(name));
  const failed = scored.map(([name]) => name).filter((name) => !isPassed(scenarios[name]));
  return {
    passed: scored.length - failed.length,
    of: scored.length,
    failed,
    unscoredFailed: ownScenarios.filter((name) => direct[name] && !isPassed(scenarios[name])),
    missing: compared.flatMap(([name, { checks }]) => missingOf(name, checks, scenarios[name]?.checks ?? [])),
    checks: new Set(scored.flatMap(([name]) => idsOf(scenarios[name]?.checks ?? []).map((id) => `${name}:${id}`))).size,
  };
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
  const missed = new Set([...failed, ...missing.map(({ check }) => check)]);
  return [
    ...failed.filter((name) => !(name in excused)).map((name) => `${key}: ${name} failed`),
    ...unscoredFailed.map((name) => `${key}: ${name} failed (not scored)`),
    ...missing
      .filter(({ check }) => !isExcused(check))
      .map(({ check, why }) => `${key}: ${check} did not pass (${why})`),
    ...Object.keys(excused)
      .filter((name) => !missed.has(name))
      .map((name) => `${key}: ${name} passed and needs no excuse any more`),
  ];
}
