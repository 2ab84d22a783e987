import { programServer, stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { beside, processesOf } from "./beside.ts";

const entry = "/here/home/.gemini/settings.json:3";

/** What is told about a server that could not be connected. */
function failed(reason: string, message: string, next: string, evidence?: string): object {
  return { status: "disconnected", reason, message, next, ...(evidence !== undefined && { evidence }) };
}

describe("a program that is no server", () => {
  test("whose command is not there: the command is named", () =>
    beside(
      { command: "fairlead-no-such-command" },
      ({ state }) => {
        const why = 'cannot start "fairlead-no-such-command": the command is not in the server\'s PATH';
        const next = `Install the command, or correct it (${entry}).`;
        expect(state()).toEqual(failed("command_not_found", `"odd" did not start: ${why}`, next));
      },
      { env: { PATH: "/usr/bin:/bin" } },
    ));

  test("whose folder is not there: the folder is named, not the command", () =>
    beside(
      ({ path }) => ({ ...programServer("well-behaved"), cwd: `${path}/gone` }),
      ({ state }) => {
        const why = `cannot start "${process.execPath}": cwd does not exist: /here/gone`;
        const next = `Check the command and its arguments (${entry}).`;
        expect(state()).toEqual(failed("command_not_found", `"odd" did not start: ${why}`, next));
      },
    ));

  test("that exits: with its code, its last words, and where to look", () =>
    beside(programServer("exits", "3", "Error: the moon is full"), ({ state }) => {
      const message = '"odd" exited with code 3 during initialize; stderr: Error: the moon is full';
      expect(state()).toEqual(failed("server_exited", message, "fairlead mcp logs odd", "Error: the moon is full"));
    }));

  test("that exits for want of a credential: the names that its entry sets are hinted at", () =>
    beside({ ...programServer("exits", "1", "Error: bad API key"), env: { MOON_API_KEY: "wrong" } }, ({ state }) => {
      const message = '"odd" exited with code 1 during initialize; stderr: Error: bad API key';
      const next = `Check the values in "env" of "odd" (${entry}): MOON_API_KEY.`;
      expect(state()).toEqual(failed("server_exited", message, next, "Error: bad API key"));
    }));

  test("that never answers: the step and the setting to raise are named", () =>
    beside({ ...stdioServer("silent"), timeout: 300 }, ({ state }) => {
      const next = `raise "timeout" of "odd" (${entry})`;
      // Which of the two it is asked first, and how far that came, is a matter of the machine.
      const message = /^"odd" timed out after 0\.3 s: no response to (server\/discover|initialize)$/;
      expect(state()).toEqual({
        ...failed("connect_timeout", "", next),
        message: expect.stringMatching(message) as string,
      });
    }));

  test("that talks without end, but not to us: with the beginning of what it says", () =>
    beside(programServer("garbage"), ({ state }) => {
      const begins = "\u001b[31mcompiling 1\u001b[0m \u202egnp.exe";
      const why = `it wrote 1,000 lines and no message; response begins ${JSON.stringify(begins)}`;
      const next = `Check the command and its arguments (${entry}).`;
      expect(state()).toEqual(failed("not_mcp", `"odd" is not an MCP server: ${why}`, next, begins));
    }));
});

describe("a server that refuses", () => {
  test("to begin: its own words are told", () =>
    beside(programServer("refuses", '{"error":{"code":-32000,"message":"no licence"}}'), ({ state }) => {
      const message = '"odd" answered initialize with an error: no licence (-32000)';
      expect(state()).toEqual(failed("protocol", message, "fairlead mcp logs odd"));
    }));

  test("to say which protocol it speaks: with what it says instead", () =>
    beside(programServer("refuses", '{"result":{"protocolVersion":"the latest"}}'), ({ state }) => {
      const message = `"odd" violates the MCP protocol: the server's response to initialize has no protocolVersion`;
      expect(state()).toEqual(failed("protocol", message, "fairlead mcp logs odd", '"the latest"'));
    }));
});

describe("a server that offers nothing", () => {
  test("is closed", () =>
    beside(programServer("nothing"), ({ state, folder }) => {
      expect(state()).toEqual({
        status: "disconnected",
        reason: "no_capabilities",
        message: '"odd": No prompts, tools, or resources found on the server',
      });
      expect(processesOf(folder).filter((line) => line.includes("nothing.mjs"))).toEqual([]);
    }));

  test("yet stays, if it says that this may change", () =>
    beside(programServer("nothing", "listChanged"), ({ state }) => {
      expect(state()).toMatchObject({
        status: "connected",
        offer: { tools: 0, prompts: 0, resources: 0, resourceTemplates: 0, note: "0 tools yet" },
      });
    }));

  test("because of a filter: the filter is named", () =>
    beside({ ...stdioServer("well-behaved"), excludeTools: ["ec*"] }, ({ state }) => {
      const { message, ...rest } = state() as { message: string };
      expect(message).toMatch(/^"odd" offers nothing that can be used: excludeTools hides all of its /);
      expect(rest).toEqual({
        status: "disconnected",
        reason: "no_capabilities",
        next: 'Change excludeTools of "odd" in settings.json.',
      });
    }));
});
