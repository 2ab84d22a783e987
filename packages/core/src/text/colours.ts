/** Takes out the colours that programs write into their output; every other escape sequence is left to the gate. */

const colour = new RegExp(`${String.fromCharCode(27)}\\[[\\d;:]*m`, "g");

export function withoutColours(text: string): string {
  return text.replaceAll(colour, "");
}
