import { expect, test } from "vitest";
import { createFairTurns } from "../../src/bridge/fair-turns.ts";

const call = (): { readonly signal: AbortSignal } => new AbortController();

/** Lets promises settle. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Opens so many requests that the next one of this client at this server must wait. */
function fill(turns: ReturnType<typeof createFairTurns>, client = "ann", server = "files"): (() => void)[] {
  return Array.from({ length: 16 }, () => {
    const leave = turns.enter(client, server, call());
    if (typeof leave !== "function") throw new Error("a request must wait although fewer than 16 are open");
    return leave;
  });
}

/** Enters and records in `order` when the turn comes. */
async function waitingTurn(turns: ReturnType<typeof createFairTurns>, order: string[], name: string): Promise<void> {
  const entered = turns.enter("ann", "files", call());
  expect(entered).toBeInstanceOf(Promise);
  await entered;
  order.push(name);
}

test("the 17th request of a client at a server waits; other clients and other servers do not", async () => {
  const turns = createFairTurns();
  const [first] = fill(turns);
  const waiting = turns.enter("ann", "files", call());
  expect(waiting).toBeInstanceOf(Promise);
  expect(turns.enter("bob", "files", call())).toBeTypeOf("function");
  expect(turns.enter("ann", "mail", call())).toBeTypeOf("function");
  expect(turns.enter("ann files", "", call())).toBeTypeOf("function");
  first?.();
  expect(await waiting).toBeTypeOf("function");
});

test("each request that ends lets one waiting request run, in the order of their arrival, and none twice", async () => {
  const turns = createFairTurns();
  const [first, second] = fill(turns);
  const order: string[] = [];
  for (const name of ["a", "b", "c"]) void waitingTurn(turns, order, name);
  first?.();
  first?.();
  await settled();
  expect(order).toEqual(["a"]);
  second?.();
  await settled();
  expect(order).toEqual(["a", "b"]);
});

test("places are free again when requests end, also after all of them have ended", async () => {
  const turns = createFairTurns();
  const leaves = fill(turns);
  leaves.pop()?.();
  leaves.push(turns.enter("ann", "files", call()) as () => void);
  expect(turns.enter("ann", "files", call())).toBeInstanceOf(Promise);
  for (const leave of leaves) leave();
  await settled();
  // One of the places belongs to the request that waited.
  const again = Array.from({ length: 15 }, () => turns.enter("ann", "files", call()));
  expect(again.every((entered) => typeof entered === "function")).toBe(true);
  expect(turns.enter("ann", "files", call())).toBeInstanceOf(Promise);
});

test("at most 256 requests of a client wait for a server", async () => {
  const turns = createFairTurns();
  const [first] = fill(turns);
  const controllers = Array.from({ length: 256 }, () => new AbortController());
  const waiting = controllers.map(async (controller) => turns.enter("ann", "files", controller));
  await expect(turns.enter("ann", "files", call())).rejects.toMatchObject({
    message: 'too many requests: 256 requests of this client are already waiting for "files"',
    evidence: { rpc: { code: -32603, data: { reason: "busy" } } },
  });
  first?.();
  expect(await waiting[0]).toBeTypeOf("function");
  for (const controller of controllers) controller.abort();
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(255);
});

test("a cancelled request gives up its turn, and only its own", async () => {
  const turns = createFairTurns();
  const [first, second] = fill(turns);
  const order: string[] = [];
  const cancelled = new AbortController();
  void waitingTurn(turns, order, "a");
  const given = turns.enter("ann", "files", cancelled);
  void waitingTurn(turns, order, "c");
  cancelled.abort();
  const error = { message: "the request was cancelled before it was sent", evidence: { rpc: { code: -32603 } } };
  await expect(given).rejects.toMatchObject(error);
  await expect(turns.enter("ann", "files", cancelled)).rejects.toMatchObject(error);
  first?.();
  second?.();
  await settled();
  expect(order).toEqual(["a", "c"]);
});

test("a request that is cancelled after its turn came takes no turn from others", async () => {
  const turns = createFairTurns();
  const [first, second] = fill(turns);
  const cancelled = new AbortController();
  const order: string[] = [];
  const entered = turns.enter("ann", "files", cancelled);
  first?.();
  await entered;
  void waitingTurn(turns, order, "next");
  cancelled.abort();
  second?.();
  await settled();
  expect(order).toEqual(["next"]);
});
