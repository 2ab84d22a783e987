/** Compares runs of a set through the gateway with the run against the server itself. Pure. */

/** Scenarios that count: those that are scored, and those in which the gateway itself must check headers. */
const ownScenarios = ["http-header-validation", "http-custom-header-server-validation", "server-session-lifecycle"];

/** How many scored scenarios passed, of how many; which failed, and which checks of the direct run did not pass. */
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

/** A scenario without a failed check passes in the suite, also if nothing was checked. */
function isPassed(scenario) {
  return scenario?.ok === true && idsOf(scenario.checks).length > 0;
}

function idsOf(checks) {
  return checks.filter(({ status }) => status === "SUCCESS").map(({ id }) => id);
}

/** The checks that passed against the server itself, and did not pass here: `scenario:check`, and why. */
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
 * Sentences about everything that is not as it should be in one run.
 * @param excused Why scenarios fail, and why single checks (`scenario:check`) do not pass in scenarios that do not fail.
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
