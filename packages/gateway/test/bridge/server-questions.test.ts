import { expect, test } from "vitest";
import type { BridgeContext } from "../../src/bridge/bridge-context.ts";
import { ServerQuestions } from "../../src/bridge/server-questions.ts";
import type { ClientCall } from "../../src/questions/client-call.ts";

/** Asks a client a question of the server `notes`, which may be about a request that another client has cancelled. */
async function doubtfulQuestion(share: "all" | "client") {
  const asked: string[] = [];
  const server = { name: "notes", mayHaveRoots: false, noteAsksBack: () => {}, shareOf: () => share };
  const context = {
    client: { name: "other", only: undefined },
    workspace: { host: { gateway: { servers: { find: () => server } } } },
  } as unknown as BridgeContext;
  const call = {
    era: "legacy",
    capabilities: { elicitation: { form: {} } },
    async ask(method: string) {
      asked.push(method);
      return { action: "accept", content: {} };
    },
  } as unknown as ClientCall;
  const params = { message: "?", requestedSchema: { type: "object", properties: {} } };
  const origin = { isAmbiguous: false, isDoubtful: true };
  const answer = await new ServerQuestions(context, call, "notes")
    .answer("elicitation/create", params, new AbortController().signal, origin)
    .catch((error: Error) => error.message);
  return { asked, answer };
}

test("what another client's cancelled call may have asked, however late, reaches no client, and the next try works", async () => {
  expect(await doubtfulQuestion("client")).toEqual({
    asked: [],
    answer:
      '"notes" sent elicitation/create, but another client has cancelled a request on this connection, and Fairlead cannot tell which of its clients should answer; each client has a connection of its own from now on, so the same request works if it is sent again',
  });
});

test("on a connection that all clients share for good, the client with the open call is asked", async () => {
  expect(await doubtfulQuestion("all")).toEqual({
    asked: ["elicitation/create"],
    answer: { action: "accept", content: {} },
  });
});
