import { writeFile } from "node:fs/promises";
import { isRunning, stdioServer } from "@fairlead/test-servers";
import { describe, expect, test } from "vitest";
import { answers, beside, ready } from "./beside.ts";

const peer = {
  era: "legacy",
  protocolVersion: "2025-11-25",
  serverInfo: { name: "test", version: "1.0.0" },
  transport: "stdio",
};
const oneTool = { tools: 1, prompts: 0, resources: 0, resourceTemplates: 0 };

function connected(offer: object = {}): object {
  return { status: "connected", peer, offer: { ...oneTool, ...offer } };
}

describe("a server that is connected all the same", () => {
  test("though it is slow to start, and the start does not wait for it", () =>
    beside(
      ({ path }) => stdioServer("slow-start", `${path}/gate`),
      async ({ host, state }) => {
        expect(state()).toEqual(connected());
        await answers(host, "odd");
      },
      {
        async meanwhile({ host, state, folder }) {
          await ready(host, "good");
          expect(state()).toEqual({ status: "connecting" });
          await writeFile(`${folder.path}/gate`, "");
        },
      },
    ));

  test("though it puts banners, colours, log lines and binary between its messages", () =>
    beside(stdioServer("noisy"), async ({ host, state }) => {
      expect(state()).toEqual(connected());
      await answers(host, "odd");
    }));

  test("though it writes 2 MB to stderr first", () =>
    beside(stdioServer("stderr-flood"), async ({ host, state }) => {
      expect(state()).toEqual(connected());
      await answers(host, "odd");
    }));

  test("though it has always one more page", () =>
    beside(stdioServer("endless-pages"), ({ host, state }) => {
      expect(state()).toEqual(connected({ tools: 100 }));
      expect(host.tools("odd").at(-1)?.serverToolName).toBe("tool-99");
      expect(host.catalog("odd")?.truncated).toEqual([{ kind: "tools", reason: "more than 100 pages" }]);
    }));

  test("though it has more tools than a person can read", () =>
    beside(stdioServer("huge-catalog", "10001"), ({ host, state }) => {
      expect(state()).toEqual(connected({ tools: 10_000 }));
      expect(host.tools("odd").at(-1)?.serverToolName).toBe("tool-9999");
      expect(host.quarantined("odd")).toEqual([]);
      expect(host.catalog("odd")?.truncated).toEqual([{ kind: "tools", reason: "more than 10000 entries" }]);
    }));

  test("though not all of its tools are tools: the good ones are there", () =>
    beside(stdioServer("one-bad-tool"), ({ host, state }) => {
      expect(state()).toEqual(connected({ tools: 4 }));
      expect(host.tools("odd").map(({ serverToolName }) => serverToolName)).toEqual([
        "first",
        "no-schema",
        "odd-title",
        "last",
      ]);
      const { dropped, repaired } = host.catalog("odd") ?? {};
      expect(dropped).toEqual(
        ["it has no name", "it is not an object", "it is not an object", "it has no name"].map((reason) => ({
          kind: "tools",
          reason,
        })),
      );
      expect(repaired).toEqual([
        { kind: "tools", name: "no-schema", reason: "inputSchema is missing or invalid" },
        { kind: "tools", name: "odd-title", reason: "title is invalid and was removed" },
      ]);
    }));
});

describe("a server that does not want to go, goes", () => {
  test("with everything it started, also in other sessions", async () => {
    const pids: number[] = [];
    await beside(stdioServer("family"), async ({ host }) => {
      const { content } = await host.call("odd", "echo", { text: "" });
      const [said] = content as readonly { text: string }[];
      pids.push(...(said?.text ?? "").split(" ").map(Number));
      expect(pids.map(isRunning)).toEqual([true, true, true, true, true]);
    });
    expect(pids.map(isRunning)).toEqual([false, false, false, false, false]);
  });
});
