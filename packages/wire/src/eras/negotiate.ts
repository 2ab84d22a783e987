/** Finds out on an open channel which era its server speaks, and opens the conversation in it. */

import { WireError } from "../errors.ts";
import { onAbort } from "../rpc/abort.ts";
import { toWireError } from "../rpc/rpc-errors.ts";
import { within } from "../rpc/within.ts";
import { type Discovery, discover, type Greeting, type Handshake, initialize } from "./handshake.ts";
import { modernErrors } from "./modern-envelope.ts";
import { legacyVersions } from "./versions.ts";

export type Agreement =
  | { readonly era: "legacy"; readonly greeting: Greeting }
  | { readonly era: "modern"; readonly greeting: Greeting };

/** `…-first`: what was true last time; the other era is tried when the server says that it is not so any more. */
export type EraPlan = "auto" | "legacy" | "modern" | "legacy-first" | "modern-first";

export async function negotiate(
  handshake: Handshake,
  plan: EraPlan,
  transport: "stdio" | "http" | "sse",
): Promise<Agreement> {
  if (plan === "legacy" || transport === "sse") return openLegacy(handshake);
  switch (plan) {
    case "auto":
      return transport === "stdio" ? probeBesideSilence(handshake) : openEither(handshake, transport);
    case "modern":
      return openModern(handshake, transport);
    case "modern-first":
      return openEither(handshake, transport);
    case "legacy-first":
      return openLegacyOrElse(handshake, transport);
  }
}

async function openLegacy(handshake: Handshake, offer: string = legacyVersions[0] ?? ""): Promise<Agreement> {
  return { era: "legacy", greeting: await initialize(handshake, offer) };
}

async function openModern(handshake: Handshake, transport: "stdio" | "http"): Promise<Agreement> {
  const discovery = await probe(handshake, transport);
  if (discovery.era === "modern") return discovery;
  throw new WireError("bad_message", "the server does not speak the modern protocol", { step: "probe" });
}

/** For servers that answer whatever they are asked: those reached over HTTP, and those that did so before. */
async function openEither(handshake: Handshake, transport: "stdio" | "http"): Promise<Agreement> {
  const discovery = await probe(handshake, transport);
  return discovery.era === "modern" ? discovery : openLegacy(handshake, discovery.offer);
}

async function openLegacyOrElse(handshake: Handshake, transport: "stdio" | "http"): Promise<Agreement> {
  try {
    return await openLegacy(handshake);
  } catch (error) {
    if (!(error instanceof WireError) || !refused.has(error.code)) throw error;
    const discovery = await probe(handshake, transport).catch(() => undefined);
    if (discovery?.era === "modern") return discovery;
    throw error;
  }
}

const refused: ReadonlySet<string> = new Set(["rpc", "http_status", "bad_message"]);

/**
 * Over a pipe a server that does not know the probe may just stay silent, and one that is slow to start looks the same.
 * So `initialize` follows a silent probe without waiting for it to end, and whoever answers first is heard first.
 */
async function probeBesideSilence(handshake: Handshake): Promise<Agreement> {
  const unneeded = new AbortController();
  const stopListening = onAbort(handshake.signal, () => unneeded.abort(handshake.signal?.reason));
  const inner = { ...handshake, signal: unneeded.signal };
  try {
    const probed = outcomeOf(probe(inner, "stdio"));
    const early = await within(probed, handshake.times.probe);
    if (early !== undefined) return await followProbe(handshake, early);
    const decided = decide(probed, outcomeOf(openLegacy(inner)), handshake.times.probe);
    return await decided.finally(() => unneeded.abort());
  } finally {
    stopListening();
  }
}

async function followProbe(handshake: Handshake, probed: Outcome<Discovery>): Promise<Agreement> {
  if (!probed.ok) throw probed.error;
  return probed.value.era === "modern" ? probed.value : openLegacy(handshake, probed.value.offer);
}

/** Both questions are open. Once `initialize` has succeeded the server is in the legacy era, whatever else it says. */
async function decide(
  probing: Promise<Outcome<Discovery>>,
  opening: Promise<Outcome<Agreement>>,
  patience: number,
): Promise<Agreement> {
  const first = await Promise.race([probing, opening]);
  if (first.ok && first.value.era === "modern") {
    const opened = await within(opening, patience);
    return opened?.ok ? opened.value : first.value;
  }
  const opened = await opening;
  if (opened.ok) return opened.value;
  // A server of the modern era refuses `initialize`, perhaps before it answers the probe; if it says why, it will.
  const saidWhy = opened.error.evidence.rpc?.code === modernErrors.unsupportedVersion;
  const probed = saidWhy ? await probing : await within(probing, patience);
  if (probed?.ok && probed.value.era === "modern") return probed.value;
  throw opened.error;
}

async function probe(handshake: Handshake, transport: "stdio" | "http"): Promise<Discovery> {
  try {
    return await discover(handshake, transport);
  } catch (error) {
    const { code, message, evidence } = toWireError(error);
    throw new WireError(code, message, { ...evidence, step: "probe" }, { cause: error });
  }
}

type Outcome<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: WireError };

function outcomeOf<T>(promise: Promise<T>): Promise<Outcome<T>> {
  return promise.then(
    (value) => ({ ok: true, value }),
    (error: unknown) => ({ ok: false, error: toWireError(error) }),
  );
}
