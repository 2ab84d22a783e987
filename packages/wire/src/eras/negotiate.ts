/** Finds out over an open channel which protocol era a server supports, and completes the handshake of that era. */

import { WireError } from "../errors.ts";
import { onAbort, RequestAbort } from "../rpc/abort.ts";
import { toWireError } from "../rpc/rpc-errors.ts";
import { within } from "../rpc/time.ts";
import { type Discovery, discover, type Greeting, type Handshake, initialize } from "./handshake.ts";
import { legacyVersions, modernErrors } from "./protocol.ts";

/** The protocol era and the server's handshake result. */
export type Agreement =
  /** `isAlsoModern`: the server answered `server/discover` too, but only after `initialize` was sent. */
  | { readonly era: "legacy"; readonly greeting: Greeting; readonly isAlsoModern?: boolean }
  | { readonly era: "modern"; readonly greeting: Greeting };

/** Which protocol eras to try. `…-first` starts with the era that worked last time, and then tries the other era. */
export type EraPlan = "auto" | "legacy" | "modern" | "legacy-first" | "modern-first";

/** Finds out which of the planned protocol eras the server supports, and completes the handshake. */
export async function negotiate(
  handshake: Handshake,
  plan: EraPlan,
  transport: "stdio" | "http" | "sse",
): Promise<Agreement> {
  if (plan === "legacy" || transport === "sse") return openLegacy(handshake);
  switch (plan) {
    case "auto":
      return transport === "stdio" ? probeThenInitialize(handshake) : openEither(handshake, transport);
    case "modern":
      return openModern(handshake, transport);
    case "modern-first":
      return openEither(handshake, transport);
    case "legacy-first":
      return openLegacyOrModern(handshake, transport);
  }
}

async function openLegacy(handshake: Handshake, proposedVersion: string = legacyVersions[0] ?? ""): Promise<Agreement> {
  return { era: "legacy", greeting: await initialize(handshake, proposedVersion) };
}

async function openModern(handshake: Handshake, transport: "stdio" | "http"): Promise<Agreement> {
  const discovery = await probe(handshake, transport);
  if (discovery.era === "modern") return discovery;
  throw new WireError("bad_message", "the server does not support protocol version 2026-07-28 or later", {
    step: "probe",
  });
}

/**
 * Sends `server/discover` first. Used for HTTP servers whose protocol era is not known, and for servers that supported
 * the modern era last time.
 */
async function openEither(handshake: Handshake, transport: "stdio" | "http"): Promise<Agreement> {
  const discovery = await probe(handshake, transport);
  return discovery.era === "modern" ? discovery : openLegacy(handshake, discovery.proposedVersion);
}

async function openLegacyOrModern(handshake: Handshake, transport: "stdio" | "http"): Promise<Agreement> {
  try {
    return await openLegacy(handshake);
  } catch (error) {
    if (!(error instanceof WireError) || !otherEraCodes.has(error.code)) throw error;
    const discovery = await probe(handshake, transport).catch(() => undefined);
    if (discovery?.era === "modern") return discovery;
    throw error;
  }
}

const otherEraCodes: ReadonlySet<string> = new Set(["rpc", "http_status", "bad_message"]);

/**
 * Negotiates with a stdio server. If it has not answered `server/discover` after `times.probe`, sends `initialize` too,
 * because some servers do not know `server/discover`.
 */
async function probeThenInitialize(handshake: Handshake): Promise<Agreement> {
  const unneeded = new RequestAbort();
  const stopListening = onAbort(handshake.signal, () => unneeded.abort(handshake.signal?.reason));
  const inner = { ...handshake, stop: unneeded };
  try {
    const probed = outcomeOf(probe(inner, "stdio"));
    const early = await within(probed, handshake.times.probe);
    if (early !== undefined) return await followProbe(handshake, early);
    const agreement = settleEra(probed, outcomeOf(openLegacy(inner)), handshake.times.probe);
    return await agreement.finally(() => unneeded.abort(undefined));
  } finally {
    stopListening();
  }
}

async function followProbe(handshake: Handshake, probed: Outcome<Discovery>): Promise<Agreement> {
  if (!probed.ok) throw probed.error;
  return probed.value.era === "modern" ? probed.value : openLegacy(handshake, probed.value.proposedVersion);
}

/**
 * Waits for the answers to `server/discover` and `initialize`, which were both sent. If `initialize` succeeds, the
 * session uses the legacy protocol era.
 */
async function settleEra(
  probing: Promise<Outcome<Discovery>>,
  opening: Promise<Outcome<Agreement>>,
  timeout: number,
): Promise<Agreement> {
  const first = await Promise.race([probing, opening]);
  if (first.ok && first.value.era === "modern") {
    const opened = await within(opening, timeout);
    return opened?.ok && opened.value.era === "legacy" ? { ...opened.value, isAlsoModern: true } : first.value;
  }
  const opened = await opening;
  if (opened.ok) return opened.value;
  /* A modern server may refuse `initialize` before it answers `server/discover`, so Fairlead waits for that answer. */
  const isModern = opened.error.evidence.rpc?.code === modernErrors.unsupportedVersion;
  const probed = isModern ? await probing : await within(probing, timeout);
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
