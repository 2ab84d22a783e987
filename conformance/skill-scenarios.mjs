/** Which scenarios are about skills (SEP-2640). */

export function isSkillScenario(scenario) {
  return scenario.startsWith("sep-2640-");
}
