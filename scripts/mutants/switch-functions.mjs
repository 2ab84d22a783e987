/*
 * The functions that the sources call after switches.mjs has changed them. They note which mutants the code reaches.
 * `active` is the number of the mutant that is switched on, or -1.
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
    /** Whether the right side of `&&` is evaluated. With the mutant, it is evaluated as the right side of `||`. */
    isTrue: (number, value) => {
      leftSide = value;
      return isOn(number) ? !value : Boolean(value);
    },
    /** Whether the right side of `||` is evaluated. With the mutant, it is evaluated as the right side of `&&`. */
    isFalse: (number, value) => {
      leftSide = value;
      return isOn(number) ? Boolean(value) : !value;
    },
    /** Whether the right side of `??` is evaluated. With the mutant, it never is. */
    isMissing: (number, value) => {
      leftSide = value;
      return isOn(number) ? false : value === undefined || value === null;
    },
    /** The value of the left side that `isTrue`, `isFalse` or `isMissing` got last. */
    left: () => leftSide,
  };
  return switches;
}

// Vitest runs this file again before each test file, but all sources of the process must use the same functions.
globalThis.$mutants ??= createSwitches();
