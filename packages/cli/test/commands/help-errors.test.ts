import { exitCodeOf } from "@fairlead/core/errors";
import { expect, test } from "vitest";
import { machine } from "../support/machine.ts";

test("every code is explained with its exit code, a meaning and a next step", async () => {
  await using here = await machine();
  const { stdout } = await here.run("help", "errors", "--json");
  const { errors } = JSON.parse(stdout) as {
    errors: { code: Parameters<typeof exitCodeOf>[0]; exitCode: number; meaning: string; next: string }[];
  };
  expect(errors.map(({ code, exitCode }) => [code, exitCode])).toEqual(
    errors.map(({ code }) => [code, exitCodeOf(code)]),
  );
  expect(errors.length).toBe(36);
  for (const { meaning, next } of errors) expect(meaning.length * next.length).toBeGreaterThan(0);
  const text = (await here.run("help", "errors")).stdout;
  for (const { code } of errors) expect(text).toContain(`\n${code} `);
});

test("one code alone; a mistyped one is answered with the nearest", async () => {
  await using here = await machine();
  expect((await here.run("help", "errors", "lost")).stdout).toMatch(
    /^lost \(exit code 1\)\n {2}.*may or may not have run.*\n {2}next: /,
  );
  const { code, stderr } = await here.run("help", "errors", "variable_unst");
  expect(code).toBe(2);
  expect(stderr).toMatch(/did you mean "variable_unset"\?/);
});
