import { expect, test } from "vitest";
import { machine } from "../../support/machine.ts";

const log = "home/.fairlead/run/host.log";
const [one, two, three] = [
  "2026-01-31T08:30:05.123Z note one",
  "2026-01-31T08:31:05.123Z note two",
  "2026-01-31T08:32:05.123Z note three",
] as const;

test("daemon logs shows the user the rotated log first, and only the lines that the user wants", async () => {
  await using here = await machine({ [`${log}.1`]: `${one}\n`, [log]: `${two}\n${three}\n` });
  const path = `${here.path}/${log}`;
  const texts: readonly (readonly [words: readonly string[], stdout: string, stderr?: string])[] = [
    [[], `${one}\n${two}\n${three}\n`],
    [["--path"], `${path}\n`],
    [["--grep", "note t"], `${two}\n${three}\n`],
    [["--since", "2026-01-31T08:31:30Z"], `${three}\n`],
    [["--grep", "zzz"], "", `0 lines in ${path}\n`],
  ];
  for (const [words, stdout, stderr = ""] of texts)
    expect(await here.run("daemon", "logs", ...words), words.join(" ")).toEqual({ code: 0, stdout, stderr });
  const documentOf = async (...words: readonly string[]): Promise<unknown> =>
    JSON.parse((await here.run("daemon", "logs", "--json", ...words)).stdout);
  expect(await documentOf()).toEqual({ schemaVersion: 1, path, lines: [one, two, three] });
  expect(await documentOf("--path")).toEqual({ schemaVersion: 1, path });
  expect(await here.run("daemon", "logs", "-f", "--json")).toMatchObject({
    code: 2,
    stderr: "fairlead: --json and -f cannot be combined: --json prints one document, and -f never ends\n",
  });
});

test("without a log and a background host the user is told so", async () => {
  await using here = await machine();
  expect(await here.run("daemon", "logs")).toEqual({
    code: 0,
    stdout: "",
    stderr: `0 lines in ${here.path}/${log}\n`,
  });
  expect(await here.run("daemon", "stop")).toEqual({ code: 0, stdout: "not running\n", stderr: "" });
});

test.each(["status", "stop", "restart", "logs"])(
  "daemon %s names a relative FAIRLEAD_HOME as the cause",
  async (word) => {
    await using here = await machine();
    expect(await here.runWith({ env: { FAIRLEAD_HOME: "relative" } }, "daemon", word)).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: the background host cannot be found: FAIRLEAD_HOME is not absolute, or Fairlead's program files are missing
  next: set FAIRLEAD_HOME to an absolute path, or install Fairlead again
`,
    });
  },
);
