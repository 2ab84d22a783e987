/** Where every request of a host is let through or stopped, and written down with what came of it. */

import type { JsonObject } from "@fairlead/wire";
import type { Clock } from "../clock.ts";
import { type ErrorCode, HostError } from "../errors.ts";
import type { Sample } from "../mcp/requests.ts";
import type { Consent, PolicyRequest } from "../policy/consent.ts";
import type { PolicyVerdict } from "../policy/rule.ts";
import type { ToolBinding } from "../registry/binding.ts";
import { type AskedTool, askAbout, isYes, ToolConfirmationOutcome } from "../registry/confirmation.ts";
import type { Ask } from "../turn/turn-host.ts";
import type { Decided } from "./ledger.ts";
import type { OpenHostOptions, RequestOptions } from "./types.ts";

export interface GateOptions {
  readonly consent: () => Promise<Consent>;
  readonly confirm: OpenHostOptions["confirm"];
  readonly record: (decided: Decided) => void;
  readonly clock: Clock;
}

export interface TypedRequest extends PolicyRequest {
  /** The person was asked about it, and said yes; or had said so before anyone asked. */
  readonly confirmed?: RequestOptions["confirmed"];
}

export interface Gate {
  /** Somebody wants exactly this themselves: only a deny, and who explicitly wants to be asked, stops it. */
  readonly typed: <T>(request: TypedRequest, work: () => Promise<T>, came?: Came<T>) => Promise<T>;
  /** The same question once more, now that the server has said what it has. */
  readonly recheck: (request: TypedRequest) => Promise<void>;
  /** For a call of a model. */
  readonly confirm: ToolBinding["confirm"];
  /** Runs what a model wants, if it may; `seen` is the changed definition that a person has said yes to, for this call alone. */
  readonly redeem: <T>(
    tool: AskedTool,
    args: JsonObject,
    work: (seen: string | undefined) => Promise<T>,
    came?: Came<T>,
  ) => Promise<T>;
  /** Reads for a model; who must be asked is asked through `ask`. */
  readonly read: <T>(resource: WantedResource, ask: Ask, work: () => Promise<T>) => Promise<T>;
  /** For a server that asks for the person's model. */
  readonly sample: (sample: Sample, ...request: Parameters<Sample>) => ReturnType<Sample>;
}

export interface WantedResource {
  readonly serverName: string;
  readonly uri: string;
}

/** What an answer that is no error says of how it went. */
export type Came<T> = (result: T) => "ok" | ErrorCode;

export function createGate({ consent, confirm, record, clock }: GateOptions): Gate {
  /** Whatever comes of the work. */
  async function written<T>(
    request: PolicyRequest,
    verdict: PolicyVerdict,
    work: () => Promise<T>,
    came: Came<T> = () => "ok",
    confirmed: RequestOptions["confirmed"] = true,
  ): Promise<T> {
    const began = clock.now();
    const answer = confirmed === "in_advance" ? confirmed : "asked";
    function write(outcome: Decided["outcome"]): void {
      const wasAnswered = verdict.decision === "ask_user" && outcome !== "denied" && outcome !== "changed";
      const durationMs = Math.round(clock.now() - began);
      record({ request, verdict, outcome, ...(wasAnswered && { answer }), durationMs });
    }
    try {
      const result = await work();
      write(came(result));
      return result;
    } catch (error) {
      write(error instanceof HostError ? error.code : "internal");
      throw error;
    }
  }

  async function refuse(request: PolicyRequest, verdict: PolicyVerdict): Promise<never> {
    const { refusal } = await import("../policy/refusal.ts");
    throw refusal(request, verdict);
  }

  async function saysYes(asked: AskedTool, args: JsonObject, signal: AbortSignal): Promise<boolean> {
    const { ProceedOnce, Cancel } = ToolConfirmationOutcome;
    const details = askAbout(asked, args, { outcomes: [ProceedOnce, Cancel], answer: () => {} });
    return isYes((await confirm?.(details, signal)) ?? Cancel);
  }

  return {
    async typed(request, work, came) {
      const verdict = (await consent()).typed(request);
      return written(
        request,
        verdict,
        async () => {
          if (isStopped(verdict, request) && !waits(request, verdict)) await refuse(request, verdict);
          return work();
        },
        came,
        request.confirmed,
      );
    },

    async recheck(request) {
      const verdict = (await consent()).typed(request);
      if (isStopped(verdict, request)) await refuse(request, verdict);
    },

    async confirm(tool, args) {
      const { serverName, serverToolName } = tool;
      const request = { serverName, serverToolName, args };
      const { ask, verdict: judge } = await consent();
      const verdict = judge(request);
      if (verdict.decision === "deny") return written(request, verdict, () => refuse(request, verdict));
      const details = ask(tool, args);
      if (details === false) return false;
      let isAnswered = false;
      return {
        ...details,
        async onConfirm(outcome) {
          if (!isAnswered && !isYes(outcome)) record({ request, verdict, outcome: "denied", durationMs: 0 });
          isAnswered = true;
          await details.onConfirm(outcome);
        },
      };
    },

    async redeem({ serverName, serverToolName }, args, work, came) {
      const { redeem, verdict } = await consent();
      const request = { serverName, serverToolName, args };
      return written(request, verdict(request), async () => work(redeem(request, args)), came);
    },

    async read({ serverName, uri }, ask, work) {
      const { askRead, verdict } = await consent();
      const request: PolicyRequest = { serverName, serverToolName: uri, kind: "resource" };
      return written(request, verdict(request), async () => {
        await ask(async () => askRead(request, theReading(serverName, uri)));
        return work();
      });
    },

    async sample(sample, asked, signal) {
      const { serverName, params: args } = asked;
      const request: PolicyRequest = { serverName, serverToolName: "", kind: "sampling", args };
      const verdict = (await consent()).verdict(request);
      const { decision } = verdict;
      return written(request, verdict, async () => {
        const isWanted =
          decision === "allow" || (decision === "ask_user" && (await saysYes(theModel(serverName), args, signal)));
        return isWanted ? sample(asked, signal) : refuse(request, verdict);
      });
    },
  };
}

/** What a person is asked about when a model wants to read. */
function theReading(serverName: string, uri: string): AskedTool {
  return { serverName, serverToolName: uri, name: "read_resource", description: "Reads a resource of the server." };
}

/** What a person is asked about when a server wants their model. */
function theModel(serverName: string): AskedTool {
  const what = "sampling/createMessage";
  return { serverName, serverToolName: what, name: what, description: "Asks your model, with your tokens." };
}

/** Whether something has changed, and what it says of itself, is known for sure when its server is connected: then it is asked once more. */
function waits({ kind = "tool" }: PolicyRequest, { rule }: PolicyVerdict): boolean {
  return isChanged(rule) || (kind === "tool" && rule.annotations !== undefined);
}

/** A changed tool must have been accepted; what else is asked about needs a yes each time. */
function isStopped({ decision, rule }: PolicyVerdict, { kind = "tool", confirmed = false }: TypedRequest): boolean {
  const isChangedTool = kind === "tool" && isChanged(rule);
  return decision === "deny" || (decision === "ask_user" && (isChangedTool || confirmed === false));
}

function isChanged({ origin }: PolicyVerdict["rule"]): boolean {
  return origin.source === "built_in" && origin.name === "changed";
}
