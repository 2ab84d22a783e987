import { describe, expect, test } from "vitest";
import { parseJsonc } from "../../../src/files/json/jsonc.ts";
import { limits } from "../../../src/limits.ts";
import type { Scope } from "../../../src/settings/define/definition.ts";
import { validate, whyNotUrl } from "../../../src/settings/schema/validate.ts";

/** Each finding on one line: severity, path, the text that it points at, message and advice. */
function findingsIn(text: string, scope?: Scope): readonly string[] {
  const { root } = parseJsonc(text);
  if (root === undefined) throw new Error("the text holds no value");
  return validate(root, scope).map(({ severity, path, node, message, next }) => {
    const pointedAt = text.slice(node.offset, node.offset + node.length);
    return `${severity} [${path.join("/")}] at ${pointedAt}: ${message}${next === undefined ? "" : ` → ${next}`}`;
  });
}

const inEntry = (keys: string): string => `{"mcpServers": {"s": {${keys}}}}`;
const inFairlead = (keys: string): string => `{"fairlead": {${keys}}}`;

describe("a mistake is reported with its path, its place and advice", () => {
  test.each<[text: string, findings: readonly string[]]>([
    ["[]", ['error [] at []: "" must be an object, not a list']],
    ['{"mcpServers": 5}', ['error [mcpServers] at 5: "mcpServers" must be an object, not a number']],
    ['{"mcpServers": {"s": "x"}}', ['error [mcpServers/s] at "x": "s" must be an object, not text']],
    ['{"mcpServers": {" ": {}}}', ['error [mcpServers/ ] at " ": the name " " is blank']],
    [
      '{"fairlead": {"clients": {"a\\u200b": []}}}',
      [
        'error [fairlead/clients/a\u200b] at "a\\u200b": the name "a⟨U+200B⟩" has invisible characters',
        'error [fairlead/clients/a\u200b] at []: "a\u200b" must be an object, not a list',
      ],
    ],
    [inFairlead('"start": true'), ['error [fairlead/start] at true: "start" must be text, not true or false']],
    [
      inFairlead('"start": "layz"'),
      ['error [fairlead/start] at "layz": "start" is "layz", which is none of background, lazy → Did you mean "lazy"?'],
    ],
    [
      inFairlead('"start": "whenever"'),
      ['error [fairlead/start] at "whenever": "start" is "whenever", which is none of background, lazy'],
    ],
    [
      inFairlead('"start": "la\\u0000zy"'),
      ['error [fairlead/start] at "la\\u0000zy": "start" has a NUL character in it'],
    ],
    [
      inFairlead('"recording": null'),
      ['error [fairlead/recording] at null: "recording" must be true or false, not null'],
    ],
    [
      inFairlead('"limits": {"callsTotal": []}'),
      ['error [fairlead/limits/callsTotal] at []: "callsTotal" must be a number, not a list'],
    ],
    [
      inFairlead('"toolBudget": "9"'),
      ['error [fairlead/toolBudget] at "9": "toolBudget" must be an object or a number, not text'],
    ],
    [
      inFairlead('"toolBudget": 0'),
      ['error [fairlead/toolBudget] at 0: "toolBudget" is 0; it must be between 1 and 1000000000'],
    ],
    [
      inFairlead('"toolBudget": {"tools": 10001}'),
      ['error [fairlead/toolBudget/tools] at 10001: "tools" is 10001; it must be between 1 and 10000'],
    ],
    [
      inFairlead('"googleHosts": {}'),
      ['error [fairlead/googleHosts] at {}: "googleHosts" must be a list of texts, not an object'],
    ],
    [
      inFairlead('"googleHosts": ["a", {}, "b", false, "\\u0000"]'),
      [
        'error [fairlead/googleHosts] at {}: item 2 of "googleHosts" must be text, not an object',
        'error [fairlead/googleHosts] at false: item 4 of "googleHosts" must be text, not true or false',
        'error [fairlead/googleHosts] at "\\u0000": item 5 of "googleHosts" has a NUL character in it',
      ],
    ],
    [
      inFairlead('"permissions": {"servers": []}'),
      ['error [fairlead/permissions/servers] at []: "servers" must be an object, not a list'],
    ],
    [
      inFairlead('"permissions": {"servers": {"a": ["x"], "b": "x", "c": [1]}}'),
      [
        'error [fairlead/permissions/servers/b] at "x": "b" must be a list of texts, not text',
        'error [fairlead/permissions/servers/c] at 1: item 1 of "c" must be text, not a number',
      ],
    ],
    [
      inFairlead('"clientMetadataUrl": "http://h/"'),
      [
        'error [fairlead/clientMetadataUrl] at "http://h/": "clientMetadataUrl" is "http://h/", which is not an https:// URL',
      ],
    ],
    [
      inFairlead('"servers": {"s": {"issuerOverride": "h"}}'),
      ['error [fairlead/servers/s/issuerOverride] at "h": "issuerOverride" is "h", which is not a URL'],
    ],
    [
      inEntry('"url": "$H", "headers": {"a b": 1, "C": "1\\n2", "D": "\\r", "E": "\\u0000", "F": []}'),
      [
        'error [mcpServers/s/headers/a b] at "a b": "a b" cannot be the name of a header',
        'warning [mcpServers/s/headers/a b] at 1: "a b" is 1; Fairlead uses it as the text "1"',
        'error [mcpServers/s/headers/C] at "1\\n2": "C" has a line break in it',
        'error [mcpServers/s/headers/D] at "\\r": "D" has a line break in it',
        'error [mcpServers/s/headers/E] at "\\u0000": "E" has a NUL character in it',
        'error [mcpServers/s/headers/F] at []: "F" must be text, not a list',
      ],
    ],
    [
      inEntry('"command": "x", "env": {"A=B": "x", "": "x", "C": "1\\n2", "D": false, "E": "\\u0000"}'),
      [
        'error [mcpServers/s/env/A=B] at "A=B": "A=B" cannot be the name of an environment variable',
        'error [mcpServers/s/env/] at "": "" cannot be the name of an environment variable',
        'warning [mcpServers/s/env/D] at false: "D" is false; Fairlead uses it as the text "false"',
        'error [mcpServers/s/env/E] at "\\u0000": "E" has a NUL character in it',
      ],
    ],
    [
      inEntry('"url": "$H", "oauth": {"tokenParamName": 1}'),
      [
        'error [mcpServers/s/oauth/tokenParamName] at 1: "tokenParamName" must be text, not a number',
        'warning [mcpServers/s/oauth/tokenParamName] at 1: "tokenParamName" is ignored: Tokens are never put into URLs.',
      ],
    ],
  ])("%s", (text, findings) => {
    expect(findingsIn(text)).toEqual(findings);
  });
});

describe("an unknown key", () => {
  test.each<[text: string, findings: readonly string[]]>([
    // Other programs keep their keys at the top and in `security`.
    ['{"theme": "dark", "security": {"auth": {}}}', []],
    [
      '{"mcpServer": {}}',
      [
        'warning [mcpServer] at "mcpServer": "mcpServer" is not a known key here and is ignored → Did you mean "mcpServers"?',
      ],
    ],
    [
      '{"mcp": {"theme": 1, "alowed": []}}',
      [
        'warning [mcp/theme] at "theme": "theme" is not a known key here and is ignored',
        'warning [mcp/alowed] at "alowed": "alowed" is not a known key here and is ignored → Did you mean "allowed"?',
      ],
    ],
    [
      '{"mcp": {"toString": 1}}',
      ['warning [mcp/toString] at "toString": "toString" is not a known key here and is ignored'],
    ],
  ])("%s", (text, findings) => {
    expect(findingsIn(text)).toEqual(findings);
  });
});

describe("a repeated key", () => {
  const twice = "is written more than once";
  test.each<[text: string, findings: readonly string[]]>([
    ['{"$schema": "a", "$schema": "b"}', [`warning [$schema] at "$schema": "$schema" ${twice}; the last one counts`]],
    ['{"ui": 1, "ui": 2}', [`warning [ui] at "ui": "ui" ${twice}; the last one counts`]],
    [
      '{"mcpServers": {}, "mcpServers": {}}',
      [`warning [mcpServers] at "mcpServers": "mcpServers" ${twice}; the last one counts`],
    ],
    ['{"mcp": {}, "mcp": {}}', [`warning [mcp] at "mcp": "mcp" ${twice}; the strictest value counts`]],
    ['{"security": {"x": {}, "x": {}}}', [`warning [security/x] at "x": "x" ${twice}; the strictest value counts`]],
    [
      inFairlead('"start": "lazy", "start": "lazy", "recording": true, "recording": true'),
      [
        `warning [fairlead/start] at "start": "start" ${twice}; the last one counts`,
        `warning [fairlead/recording] at "recording": "recording" ${twice}; the strictest value counts`,
      ],
    ],
    [
      inFairlead('"permissions": {"servers": {"a": [], "a": []}}'),
      [`warning [fairlead/permissions/servers/a] at "a": "a" ${twice}; the strictest value counts`],
    ],
    [
      '{"mcpServers": {"s": {"command": "x", "command": "y"}, "s": {"command": "x", "env": {"A": "1", "A": "2"}}}}',
      [
        `error [mcpServers/s] at "s": "s" ${twice} → Remove all but one of them.`,
        `error [mcpServers/s/env/A] at "A": "A" ${twice} → Remove all but one of them.`,
      ],
    ],
  ])("%s", (text, findings) => {
    expect(findingsIn(text)).toEqual(findings);
  });
});

describe("values at a limit", () => {
  test.each([
    ["the lowest number", inEntry('"command": "x", "timeout": 1'), []],
    ["the highest number", inEntry('"command": "x", "timeout": 2147483647'), []],
    ["a number instead of an object", inFairlead('"toolBudget": 1000000000'), []],
    ["the longest text", inEntry(`"command": "${"x".repeat(limits.settingsText)}"`), []],
    [
      "a longer text",
      inEntry(`"command": "${"x".repeat(limits.settingsText + 1)}"`),
      [expect.stringMatching(/: "command" is longer than 131072 characters$/)],
    ],
    ["the longest item", inEntry(`"command": "x", "args": ["${"x".repeat(limits.settingsText)}"]`), []],
  ])("%s", (_what, text, findings) => {
    expect(findingsIn(text)).toEqual(findings);
  });
});

test("only a workspace file is warned about keys that have no effect in it", () => {
  const text = '{"security": {"folderTrust": {"enabled": false}}, "fairlead": {"start": "lazy", "toolBudget": 9}}';
  const scopes: readonly Scope[] = ["system-defaults", "user", "system"];
  expect([undefined, ...scopes].flatMap((scope) => findingsIn(text, scope))).toEqual([]);
  expect(findingsIn(text, "workspace")).toEqual([
    'warning [security/folderTrust/enabled] at false: "enabled" applies only in user or system settings; here it is ignored',
  ]);
});

test.each([
  ["https://h/", "url", undefined],
  ["http://h/", "url", undefined],
  ["https://h/", "https-url", undefined],
  ["http://h/", "https-url", "not an https:// URL"],
  ["ftp://h/", "url", "not an http:// or https:// URL"],
  ["h", "url", "not a URL"],
] as const)("%s as %s is %s", (text, format, reason) => {
  expect(whyNotUrl(text, format)).toBe(reason);
});
