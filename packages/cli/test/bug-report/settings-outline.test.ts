import { join } from "node:path";
import type { Locations } from "@fairlead/core/settings/read/paths";
import { temporaryFolder } from "@fairlead/test-servers";
import { expect, test } from "vitest";
import { readSettings } from "../../src/commands/bug-report.ts";

test("a bug report has the keys of the settings without their values, and a list of the values to hide", async () => {
  await using folder = await temporaryFolder();
  const settings = {
    text: "plain words",
    number: 5,
    none: null,
    on: true,
    off: false,
    list: ["abc12345", 1],
    inner: {
      key: "abcd1234",
      pair: "user=pass1234,other:word5678",
      short: "abc1234",
      path: "a/bcdefg1",
      mail: "me1@example",
    },
    again: "abcd1234",
    digits: "12345678",
    letters: "abcdefgh",
  };
  await folder.write("user.json", settings);
  await folder.write("broken.json", "{");
  const [user, workspace, system] = ["user.json", "broken.json", "missing.json"].map((name) => join(folder.path, name));
  const files = { user, workspace, system, "system-defaults": undefined };
  const { outlines, values } = await readSettings({ files } as Locations);
  const text = "(text)";
  expect(outlines.toSorted((one, other) => one.file.localeCompare(other.file))).toEqual([
    { scope: "workspace", file: workspace, state: "broken" },
    { scope: "system", file: system, state: "absent" },
    {
      scope: "user",
      file: user,
      state: "read",
      keys: {
        text,
        number: "(number)",
        none: "(object)",
        on: true,
        off: false,
        list: "(list of 2)",
        inner: { key: text, pair: text, short: text, path: text, mail: text },
        again: text,
        digits: text,
        letters: text,
      },
    },
  ]);
  expect(values).toEqual(["abc12345", "abcd1234", "user=pass1234,other:word5678", "pass1234", "word5678"]);
});
