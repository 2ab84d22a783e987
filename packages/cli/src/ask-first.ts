/** What was typed may need one more yes: shows why, what has changed and what would be sent, and asks. */

import type { Difference } from "@fairlead/core/discover/tool-changes";
import { HostError } from "@fairlead/core/errors";
import type { Host } from "@fairlead/core/host";
import type { CheckRequest, PolicyVerdict, RequestKind } from "@fairlead/core/policy/rule";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { differenceLines } from "./output/difference-lines.ts";
import { reasonText } from "./output/rule-lines.ts";
import { tellPolicyProblems } from "./policy-problems.ts";
import { canAsk, confirm } from "./prompt.ts";
import type { Context } from "./verb.ts";

export interface TypedRequest extends Pick<CheckRequest, "args"> {
  readonly server: string;
  /** Of a resource its URI, of a prompt its name. */
  readonly name: string;
  readonly kind: RequestKind;
  /** What a person would call it. */
  readonly title: string;
  /** `--yes`. */
  readonly isYes: boolean;
}

export interface Answer {
  /** For the request itself. */
  readonly options: { readonly confirmed: boolean | "in_advance"; readonly acceptChanged: boolean };
  /** A yes was needed, and there was none. */
  readonly isRefused: boolean;
}

const notAsked: Answer = { options: { confirmed: false, acceptChanged: false }, isRefused: false };
const refused: Answer = { ...notAsked, isRefused: true };

/** Its server is connected, so what it is now is known. A rule that denies is left to the request itself: nobody is asked then. */
export async function askFirst(
  request: TypedRequest,
  host: Host,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<Answer> {
  const { server, name, kind, args, isYes } = request;
  await tellPolicyProblems(host, { out });
  const verdict = await host.decide(server, name, args, { kind, typed: true });
  if (verdict.decision !== "ask_user") return notAsked;
  const changeNow = async (): Promise<readonly Difference[] | undefined> => host.changeOf(server, name, kind);
  const change = await changeNow();
  // A yes is for what was shown: a change that nobody has seen is not accepted with it.
  const confirmed = isYes ? "in_advance" : true;
  const granted = { options: { confirmed, acceptChanged: change !== undefined }, isRefused: false } as const;
  // Whatever is answered, the difference is shown.
  if (change) out.exactly(changeText(request, change));
  if (isYes) return granted;
  if (!canAsk(io)) return refused;
  out.exactly(requestText(request, verdict));
  const question = change ? safe`${verbs[kind]} it as it is now?` : safe`${verbs[kind]} it?`;
  const isWanted = await confirm(io, question);
  // While somebody thinks about it, a server can change it again.
  return isWanted && JSON.stringify(await changeNow()) === JSON.stringify(change) ? granted : refused;
}

const verbs: Readonly<Record<RequestKind, SafeText>> = {
  tool: safe`Call`,
  resource: safe`Read`,
  prompt: safe`Get`,
  sampling: safe`Answer`,
};

function changeText({ title }: TypedRequest, change: readonly Difference[]): SafeText {
  const heading = safe`${toVisibleLine(title)} is not what was accepted:`;
  return joinSafe([heading, ...differenceLines(change, safe`  `)]);
}

/** Exactly what would be sent, to the last character. */
function requestText({ title, args = {} }: TypedRequest, { rule, over = rule }: PolicyVerdict): SafeText {
  const sent = Object.entries(args).map(
    ([name, value]) => safe`  ${toVisibleLine(name)}: ${toVisibleLine(JSON.stringify(value))}`,
  );
  const asking = over.decision === "ask_user" ? over : rule;
  return joinSafe([safe`${toVisibleLine(title)}: ${reasonText(asking)}`, ...sent]);
}

/** A refusal that a yes would have answered says so. */
export async function withAdvice<T>(request: Promise<T>, { isRefused }: Answer): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (!isRefused || !(error instanceof HostError) || !["denied", "changed"].includes(error.code)) throw error;
    const next = "Say yes when you are asked in a terminal, or add --yes.";
    throw new HostError(error.code, error.message, { next, cause: error });
  }
}
