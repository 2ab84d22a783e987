import { expect, test } from "vitest";
import { type Ending, machine } from "../../support/machine.ts";
import { openTerminalHere } from "../../support/terminal-here.ts";

const place = "an encrypted file in Fairlead's own folder";

test("the user sees where a secret was stored, whether another was overwritten, and what is removed", async () => {
  await using here = await machine();
  const set = (name: string, stdin: string): Promise<Ending> => here.runWith({ stdin }, "secret", "set", name);
  const use = (name: string): string => `to use the secret in settings, write \${secret:${name}}\n`;
  expect(await here.run("secret", "list")).toEqual({
    code: 0,
    stdout: "",
    stderr: `in ${place}:\nno secrets stored; next: fairlead secret set NAME\n`,
  });
  expect(await set("B", "b\r\n")).toEqual({
    code: 0,
    stdout: `stored "B" in ${place}\n`,
    stderr: `${use("B")}undo: fairlead secret remove B\n`,
  });
  expect(await set("B", "b")).toEqual({
    code: 0,
    stdout: `stored "B" in ${place}\n`,
    stderr: `${use("B")}cannot be undone: the previous value was overwritten\n`,
  });
  expect(await set("A.b-c_9", "a")).toMatchObject({ code: 0 });
  expect(await here.run("secret", "list")).toEqual({ code: 0, stdout: "A.b-c_9\nB\n", stderr: `in ${place}:\n` });
  expect(await here.run("secret", "remove", "B")).toEqual({
    code: 0,
    stdout: `removed "B" from ${place}\n`,
    stderr: "",
  });
  expect(await here.run("secret", "remove", "Bcdefgh")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'fairlead: no secret "Bcdefgh" is stored\n  next: fairlead secret list\n',
  });
  expect(await here.run("secret", "set", "C", "--value-from", "NOT_SET")).toEqual({
    code: 3,
    stdout: "",
    stderr: 'fairlead: the environment variable "NOT_SET" is not set\n',
  });
  expect(await set("C", "")).toEqual({
    code: 2,
    stdout: "",
    stderr: "fairlead: the value is empty; nothing was stored\n",
  });
});

test("a value of 65536 bytes and a name of 128 characters are the largest that the user can store", async () => {
  await using here = await machine();
  const set = (name: string, stdin: string): Promise<Ending> => here.runWith({ stdin }, "secret", "set", name);
  expect(await set("A", "x".repeat(65_536))).toMatchObject({ code: 0 });
  expect(await set("B", "x".repeat(65_537))).toEqual({
    code: 1,
    stdout: "",
    stderr: "fairlead: the value is larger than 65536 bytes; nothing was stored\n",
  });
  expect(await set("n".repeat(128), "x")).toMatchObject({ code: 0 });
  for (const name of ["n".repeat(129), ".a", "a$", ""])
    expect(await set(name, "x")).toEqual({
      code: 2,
      stdout: "",
      stderr: `fairlead: "${name}" is not a valid secret name: use letters, digits, "_", "." and "-"
  next: fairlead secret set GITHUB_TOKEN
`,
    });
});

test("on a terminal the user types the value, which is not shown", async () => {
  await using here = await machine();
  await using terminal = openTerminalHere(here, "secret", "set", "A");
  await terminal.until(/value of A \(not shown\):$/);
  terminal.type("canary\r");
  expect(await terminal.exitCode).toBe(0);
  expect(terminal.screen()).toBe(`value of A (not shown): 
stored "A" in ${place}
to use the secret in settings, write \${secret:A}
undo: fairlead secret remove A`);
});
