import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { call, signIn } from "./official-client.ts";

test("the program that is for trying things by hand lets people sign in", async () => {
  const program = new URL("../../../test-servers/src/programs/authorization-server.mjs", import.meta.url);
  const child = spawn(process.execPath, [fileURLToPath(program), "--expires-in", "60"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  try {
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const server = { url: line.replace("MCP server: ", "") };
    const { tokens } = await signIn(server, "read");
    expect(tokens.expires_in).toBe(60);
    expect(await call(server, tokens.access_token)).toBe(200);
  } finally {
    child.kill();
    await gone;
  }
});
