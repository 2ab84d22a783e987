/*
 * The functions that switches.mjs writes into the sources. They note which mutants the code reaches. `active` is the number of the mutant
 * that is switched on, or -1.
 */

const results = {
  "===": (one, other) => one === other,
  "!==": (one, other) => one !== other,
  "<": (one, other) => one < other,
  "<=": (one, other) => one <= other,
  ">": (one, other) => one > other,
  ">=": (one, other) => one >= other,
  "+": (one, other) => one + other,
  "-": (one, other) => one - other,
  "*": (one, other) => one * other,
  "/": (one, other) => one / other,
  "%": (one, other) => one % other,
};

export function createSwitches() {
  let leftSide;
  const isOn = (number) => {
    switches.reached.add(number);
    return switches.active === number;
  };
  const switches = {
    active: -1,
    reached: new Set(),
    isOn,
    inverted: (number, value) => (isOn(number) ? !value : value),
    text: (number, value) => (isOn(number) ? "" : value),
    method: (number, name, other) => (isOn(number) ? other : name),
    result: (number, operator, other, one, two) => results[isOn(number) ? other : operator](one, two),
    /** Whether the right side of `&&` is evaluated: with the mutant, as that of `||`. */
    isTrue: (number, value) => {
      leftSide = value;
      return isOn(number) ? !value : Boolean(value);
    },
    isFalse: (number, value) => {
      leftSide = value;
      return isOn(number) ? Boolean(value) : !value;
    },
    /** Whether the right side of `??` is evaluated: with the mutant, never. */
    isMissing: (number, value) => {
      leftSide = value;
      return isOn(number) ? false : value === undefined || value === null;
    },
    /** The left side of the operator that was looked at last. */
    left: () => leftSide,
  };
  return switches;
}

// The file runs again before each test file, but the sources keep the functions that they found first.
globalThis.$mutants ??= createSwitches();
