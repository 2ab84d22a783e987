/**
 * Asks the user to confirm a request that the user typed, if a rule requires a confirmation or the tool's definition
 * has changed. Shows the rule, the change of the definition, and the arguments.
 */

import { HostError } from "@fairlead/core/errors";
import type { Host, RequestOptions } from "@fairlead/core/host";
import {
  type ConfirmationView,
  outcomeOf,
  type RequestKind,
  type ToolCallConfirmationDetails,
  ToolConfirmationOutcome,
  toConfirmationView,
} from "@fairlead/core/policy";
import { joinSafe, type SafeText, safe, toVisibleLine } from "@fairlead/core/text/safe-text";
import { differenceLines } from "../output/policy/rule-lines.ts";
import type { ProgressLine } from "../output/reports/progress.ts";
import { warnOfPolicyProblems } from "./configuration.ts";
import { askLineOrEnd, canAsk, confirm } from "./prompt.ts";
import type { Context } from "./verb.ts";

/** A tool call, a read or a prompt that the user typed. `isYes`: whether `--yes` was given. */
export interface TypedRequest {
  /** The name as the user typed it: `server.tool`, a URI, or `server.prompt`. */
  readonly title: string;
  readonly isYes: boolean;
}

/** The options for the request, and a function that adds advice to the error of a refused request. */
export interface TypedConfirmation {
  readonly options: Pick<RequestOptions, "confirm" | "confirmed">;
  /** The options for a request with a progress line, which would overwrite the question. */
  readonly beside: (progress: Pick<ProgressLine, "hideDuring">) => TypedConfirmation["options"];
  /** Waits for the request. If it failed because the user did not confirm it, adds the next step to the error. */
  readonly withAdvice: <T>(request: Promise<T>) => Promise<T>;
}

const { ProceedOnce, Cancel } = ToolConfirmationOutcome;

/** Prepares the confirmation of a typed request. It asks only if a rule or a changed definition requires it. */
export async function confirmTypedRequest(
  request: TypedRequest,
  host: Pick<Host, "policy">,
  { io, out }: Pick<Context, "io" | "out">,
): Promise<TypedConfirmation> {
  const { title, isYes } = request;
  await warnOfPolicyProblems(host, { out });
  let isRefused = false;
  let correction: string | undefined;

  async function ask(
    details: ToolCallConfirmationDetails,
    until?: AbortSignal,
  ): Promise<ToolConfirmationOutcome | undefined> {
    const view = toConfirmationView(details, { who: "user" });
    // `--yes` is about the request, not about what its server wants meanwhile.
    if (view.kind === "host") return canAsk(io) ? askAboutHost(view, io, out, until) : undefined;
    // A changed definition is shown even with --yes.
    if (view.change) out.exactly(changeText(title, view.change));
    if (isYes) return ProceedOnce;
    isRefused = true;
    correction = details.rule?.correction;
    if (!canAsk(io)) return undefined;
    out.exactly(requestText(title, view));
    const verb = verbs[view.kind];
    const question = view.change ? safe`${verb} it with the changed definition?` : safe`${verb} it?`;
    isRefused = !(await confirm(io, question));
    return isRefused ? Cancel : ProceedOnce;
  }

  const confirmed = isYes ? "in_advance" : undefined;
  return {
    options: { confirm: ask, confirmed },
    beside: ({ hideDuring }) => ({ confirm: (details, until) => hideDuring(() => ask(details, until)), confirmed }),
    async withAdvice(running) {
      try {
        return await running;
      } catch (error) {
        if (!isRefused || !(error instanceof HostError) || !["denied", "changed"].includes(error.code)) throw error;
        const confirm = "add --yes, or run the command in a terminal and answer yes";
        throw new HostError(error.code, error.message, { next: correction ?? confirm, cause: error });
      }
    },
  };
}

const verbs: Readonly<Record<RequestKind, SafeText>> = {
  tool: safe`Call`,
  resource: safe`Read`,
  prompt: safe`Get`,
  sampling: safe`Answer`,
  skill: safe`Load`,
  host: safe`Reach`,
};

const hostWords = { once: safe`once (until the server ends)`, always: safe`always`, no: safe`no` } as const;

/** Asks until one of the words is typed: Enter is no answer, because the person did not expect a question here. */
async function askAboutHost(
  view: ConfirmationView,
  io: Context["io"],
  out: Context["out"],
  until: AbortSignal | undefined,
): Promise<ToolConfirmationOutcome | undefined> {
  const signal = until === undefined ? io.signal : AbortSignal.any([io.signal, until]);
  const { server, name, hints, answers } = view;
  const hint = hints === undefined ? safe`` : safe` (${toVisibleLine(hints)})`;
  out.exactly(safe`${toVisibleLine(server)} wants ${toVisibleLine(name)}${hint}. Its sandbox does not list this host.`);
  const offered = (["once", "always", "no"] as const).filter((each) => answers.includes(each));
  const words = joinSafe(
    offered.map((each) => hostWords[each]),
    safe` · `,
  );
  for (;;) {
    // Ctrl-C, and the end of the call, leave the question without an answer.
    const line = await askLineOrEnd({ ...io, signal }, safe`${words}: `).catch(() => undefined);
    if (line === undefined) return undefined;
    const given = offered.find((each) => each === line.trim().toLowerCase());
    if (given !== undefined) return outcomeOf(given, view.kind);
  }
}

function changeText(title: string, change: NonNullable<ConfirmationView["change"]>): SafeText {
  const heading = safe`${toVisibleLine(title)} differs from the accepted definition:`;
  return joinSafe([heading, ...differenceLines(change, safe`  `)]);
}

/** Returns the request's title, the rule, and the exact arguments. For a resource, the title is the URI. */
function requestText(title: string, { kind, reason, args, flags, sandbox }: ConfirmationView): SafeText {
  const sent = kind === "resource" ? [] : Object.entries(args);
  const lines = sent.map(([name, value]) => safe`  ${toVisibleLine(name)}: ${toVisibleLine(JSON.stringify(value))}`);
  const boxed = sandbox === undefined ? [] : [safe`  server: ${toVisibleLine(sandbox)}`];
  const flagged = flags?.split("\n").map((flag) => safe`  flag: ${toVisibleLine(flag)}`) ?? [];
  return joinSafe([safe`${toVisibleLine(title)}: ${toVisibleLine(reason)}`, ...lines, ...boxed, ...flagged]);
}
