import { describe, expect, test } from "vitest";
import { splitShellLine } from "../../src/settings/shell-line.ts";

describe("a command line", () => {
  const lines: readonly [string, readonly string[]][] = [
    ["node server.js --port 8080", ["node", "server.js", "--port", "8080"]],
    ["  node\t x  ", ["node", "x"]],
    [`node 'a b' "c d"`, ["node", "a b", "c d"]],
    [`node a'b c'"d e"f`, ["node", "ab cd ef"]],
    [`node '' ""`, ["node", "", ""]],
    [`node a\\ b \\"q\\" \\\\`, ["node", "a b", '"q"', "\\"]],
    [`node "a \\"b\\" \\\\ \\n"`, ["node", 'a "b" \\ \\n']],
    [`node 'a\\b'`, ["node", "a\\b"]],
    [`node '|&;<>()' "|&;<>()"`, ["node", "|&;<>()", "|&;<>()"]],
    ["node \\; \\|", ["node", ";", "|"]],
    ['node $A "$B" \'$C\' \\$D "\\$E"', ["node", "$A", "$B", "$$C", "$$D", "$$E"]],
    ["node '`' '$(x)'", ["node", "`", "$$(x)"]],
    ["node # * ? [a] {b} = a=b", ["node", "#", "*", "?", "[a]", "{b}", "=", "a=b"]],
    ["'my program' x", ["my program", "x"]],
    ["~/bin/x ~ ~/'a b' a'~/x' '~x' ./'~'", ["~/bin/x", "~", "~/a b", "a~/x", "~x", "./~"]],
  ];
  test.each(lines)("%s", (line, words) => {
    expect(splitShellLine(line)).toEqual({ kind: "words", words });
  });

  const refusals: readonly [string, number, RegExp][] = [
    ["a | b", 3, /needs a shell/],
    ["a && b", 3, /needs a shell/],
    ["a; b", 2, /needs a shell/],
    ["a > f", 3, /needs a shell/],
    ["a < f", 3, /needs a shell/],
    ["(a)", 1, /needs a shell/],
    ["a)", 2, /needs a shell/],
    ["a\nb", 2, /needs a shell/],
    ["a\rb", 2, /needs a shell/],
    ["a `b`", 3, /another command/],
    ['a "`b`"', 4, /another command/],
    ["a $(b)", 3, /another command/],
    ['a "x$(b)"', 5, /another command/],
    ["a 'b", 3, /not closed/],
    ['a "b', 3, /not closed/],
    ["a \\", 3, /backslash/],
    ["a \\\nb", 3, /backslash/],
    ["", 1, /no command/],
    ["   ", 1, /no command/],
    ["'' x", 1, /no command/],
    ["A=1 node x", 1, /sets a variable/],
    ["node '~/x'", 6, /^"~\/x" is quoted/],
    ['node "~"/x', 6, /is quoted/],
    ["node ~'/x'", 6, /is quoted/],
    ["node ''~/x", 6, /is quoted/],
    ["node a \\~", 8, /is quoted/],
    ["node '~\\x'", 6, /is quoted/],
    ["'~/x' a", 1, /is quoted/],
  ];
  test.each(refusals)("%j is refused at character %i", (line, at, reason) => {
    expect(splitShellLine(line)).toEqual({ kind: "refused", at, reason: expect.stringMatching(reason) });
  });
});
