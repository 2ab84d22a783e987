/** Which calls are made again when the server is lost: with clients in memory. */

import { until } from "@fairlead/test-servers";
import { WireError } from "@fairlead/wire";
import { describe, expect, test } from "vitest";
import { toCallError } from "../../src/connect/outcome.ts";
import { HostError } from "../../src/errors.ts";
import type { CallClient } from "../../src/execute/executor.ts";
import type { CatalogTool } from "../../src/server/catalog.ts";
import { manualClock } from "../support/manual-clock.ts";
import { clientOf, done, echo, executorWith, patient } from "../support/memory-client.ts";

/** What a client makes of an error of the wire. */
function failed(error: WireError): HostError {
  return toCallError(error, { serverName: "s", what: "s.echo", method: "tools/call" });
}

describe("a call that is lost", () => {
  const lost = failed(new WireError("exited", "the server exited with code 3", { exitCode: 3 }));
  const unsent = failed(new WireError("closed", "the connection is gone", { unsent: true }));
  const harmless: CatalogTool = { ...echo, annotations: { readOnlyHint: true } };

  interface Case {
    readonly what: string;
    readonly tool?: CatalogTool;
    readonly error: HostError;
    readonly trustAnnotations?: boolean;
    /** What the new connection offers; without it there is none. */
    readonly offers?: readonly CatalogTool[];
    readonly sentAgain: boolean;
    readonly code?: string;
  }

  test.each<Case>([
    { what: "never left, and there is a new connection", error: unsent, offers: [echo], sentAgain: true },
    {
      what: "never left, and the new connection says the same of its tool",
      error: unsent,
      offers: [{ ...echo, inputSchema: { ...echo.inputSchema } }],
      sentAgain: true,
    },
    { what: "never left, and there is none", error: unsent, sentAgain: false, code: "unreachable" },
    { what: "may have run", error: lost, offers: [echo], sentAgain: false, code: "lost" },
    {
      what: "is harmless, says the server",
      tool: harmless,
      error: lost,
      offers: [harmless],
      sentAgain: false,
      code: "lost",
    },
    {
      what: "is harmless, by the word of a server that is believed",
      tool: harmless,
      error: lost,
      trustAnnotations: true,
      offers: [harmless],
      sentAgain: true,
    },
    {
      what: "never left, and is another tool by now",
      error: unsent,
      offers: [harmless],
      sentAgain: false,
      code: "changed",
    },
    { what: "never left, and is there no more", error: unsent, offers: [], sentAgain: false, code: "changed" },
    {
      what: "is harmless, and is another tool by now",
      tool: harmless,
      error: lost,
      trustAnnotations: true,
      offers: [echo],
      sentAgain: false,
      code: "lost",
    },
  ])(
    "$what: sent again: $sentAgain",
    async ({ tool = echo, error, trustAnnotations = false, offers, sentAgain, code }) => {
      const { client, sent } = clientOf([tool], () => {
        throw error;
      });
      const next = clientOf(offers ?? [], () => done);
      const reconnect = offers && (async () => next.client);
      const executor = executorWith(reconnect ? { reconnect } : {});
      const call = executor.call({ client, tool: "echo", args: { text: "" } }, { ...patient, trustAnnotations });
      if (sentAgain) expect(await call).toMatchObject({ content: done.content });
      else await expect(call).rejects.toMatchObject({ code });
      expect([sent.length, next.sent.length]).toEqual([1, sentAgain ? 1 : 0]);
    },
  );

  test("is sent again once, with what is left of its time", async () => {
    const clock = manualClock();
    const failing = (): never => {
      throw unsent;
    };
    const { client } = clientOf([echo], async () => {
      await clock.pass(1500);
      return failing();
    });
    const next = clientOf([echo], failing);
    let connections = 0;
    const reconnect = async (): Promise<CallClient> => {
      connections += 1;
      return next.client;
    };
    const executor = executorWith({ reconnect, clock });
    const call = executor.call({ client, tool: "echo", args: { text: "" } }, patient);
    await expect(call).rejects.toBe(unsent);
    expect(connections).toBe(1);
    expect(next.sent[0]?.[2]).toMatchObject({ timeout: 1000, total: 3500 });
  });

  test("is sent again with a moment at least, however late it is", async () => {
    const clock = manualClock();
    const { client } = clientOf([echo], async () => {
      await clock.pass(6000);
      throw unsent;
    });
    const next = clientOf([echo], () => done);
    const executor = executorWith({ reconnect: async () => next.client, clock });
    await executor.call({ client, tool: "echo", args: { text: "" } }, patient);
    expect(next.sent[0]?.[2]).toMatchObject({ timeout: 1000, total: 1 });
  });

  test("is not sent again for one who has given up meanwhile", async () => {
    const stop = new AbortController();
    const { client } = clientOf([echo], () => {
      stop.abort();
      throw unsent;
    });
    const next = clientOf([echo], () => done);
    const executor = executorWith({ reconnect: async () => next.client });
    const call = executor.call({ client, tool: "echo", args: { text: "" } }, { ...patient, signal: stop.signal });
    await expect(call).rejects.toBe(unsent);
    expect(next.sent).toEqual([]);
  });

  test("a server that has gone while the call waited for it has not been asked", async () => {
    const { client } = clientOf([echo], () => {
      throw new HostError("server_exited", '"s" exited with code 3');
    });
    const next = clientOf([echo], () => done);
    const gone = { ...client };
    const executor = executorWith({
      reconnect: async () => next.client,
      validator: {
        async validate() {
          Object.assign(gone, { filteredCatalog: undefined });
          return { issues: [], warnings: [] };
        },
      },
    });
    expect(await executor.call({ client: gone, tool: "echo", args: {} }, patient)).toMatchObject({ isError: false });
    expect(next.sent).toHaveLength(1);
  });

  test("when there is no way back: why, if it never left; else that it may have run", async () => {
    const down = new HostError("command_not_found", '"s" did not start');
    const reconnect = async (): Promise<never> => {
      throw down;
    };
    const outcome = (error: HostError): Promise<unknown> => {
      const { client } = clientOf([harmless], () => {
        throw error;
      });
      const call = { client, tool: "echo", args: { text: "" } };
      return executorWith({ reconnect })
        .call(call, { ...patient, trustAnnotations: true })
        .catch((reason: unknown) => reason);
    };
    expect(await outcome(unsent)).toBe(down);
    expect(await outcome(lost)).toBe(lost);
  });
});

describe("a call that the server has no time for", () => {
  const busy = (retryAfter: string): HostError =>
    failed(
      new WireError("http_status", "the server answered with HTTP status 429", {
        httpStatus: 429,
        retryAfter,
      }),
    );

  /** A client that is busy as often as it says, and an executor that waits by a clock of its own. */
  function busyServer(...answers: readonly string[]) {
    return busyTool({ ...echo, annotations: { readOnlyHint: true } }, answers);
  }

  function busyTool(tool: CatalogTool, answers: readonly string[], trustAnnotations = true) {
    const clock = manualClock();
    const left = [...answers];
    const { client, sent } = clientOf([tool], () => {
      const retryAfter = left.shift();
      if (retryAfter !== undefined) throw busy(retryAfter);
      return done;
    });
    const executor = executorWith({ clock, reconnect: async () => client });
    const call = (signal?: AbortSignal): Promise<unknown> =>
      executor
        .call({ client, tool: "echo", args: { text: "" } }, { ...patient, signal, trustAnnotations })
        .catch((error) => error);
    return { clock, sent, call };
  }
  const isSent = (sent: readonly unknown[], times: number): Promise<void> => until(() => sent.length >= times);

  test.each<[string, CatalogTool, boolean]>([
    ["without annotations", echo, true],
    ["read-only, but not by a trusted server", { ...echo, annotations: { readOnlyHint: true } }, false],
    ["destructive", { ...echo, annotations: { destructiveHint: true } }, true],
  ])("may have run, so it is not made again: %s", async (_, tool, trusted) => {
    const { sent, call } = busyTool(tool, ["0"], trusted);
    expect(await call()).toMatchObject({
      code: "lost",
      message: "s.echo: the server is busy (HTTP 429); the request may or may not have run",
    });
    expect(sent).toHaveLength(1);
  });

  test("is made again when the server wants it, and not before", async () => {
    const { clock, sent, call } = busyServer("0.9");
    const answer = call();
    await isSent(sent, 1);
    await clock.pass(899);
    expect(sent).toHaveLength(1);
    await clock.pass(1);
    expect(await answer).toMatchObject({ content: done.content });
    expect(sent.map(([, , { timeout, total }]) => [timeout, total])).toEqual([
      [1000, 5000],
      [1000, 4100],
    ]);
  });

  test("is made again only once", async () => {
    const { clock, sent, call } = busyServer("0.5", "0.5");
    const answer = call();
    await isSent(sent, 1);
    await clock.pass(500);
    expect(await answer).toMatchObject({ code: "lost" });
    expect(sent).toHaveLength(2);
  });

  test("does not wait longer than the call may be silent", async () => {
    const { sent, call } = busyServer("1");
    expect(await call()).toMatchObject({
      code: "lost",
      message: "s.echo: the server is busy (HTTP 429); the request may or may not have run",
      next: "Find out whether the request ran before you repeat it. The server accepts requests again in 1 s.",
    });
    expect(sent).toHaveLength(1);
  });

  test("can be cancelled while it waits", async () => {
    const { clock, sent, call } = busyServer("0.5");
    const caller = new AbortController();
    const answer = call(caller.signal);
    await isSent(sent, 1);
    await clock.pass(100);
    caller.abort();
    expect(await answer).toMatchObject({ code: "cancelled", message: "s.echo was cancelled before it was sent again" });
    await clock.pass(1000);
    expect(sent).toHaveLength(1);
  });
});
