/** The names of the scenarios about skills (SEP-2640). */

export function isSkillScenario(scenario) {
  return scenario.startsWith("sep-2640-");
}
