/** The step "confirm" of `spine.ts`: if the rules do not allow a request, asks the user or refuses the request. */

import type { Clock } from "../../clock.ts";
import { type RequestSignal, toAbortSignal, unlessAborted } from "../../mcp/unless-aborted.ts";
import type { CarriedDecision, Confirmations, PolicyRequest } from "../../policy/confirmations.ts";
import { isChangedRule } from "../../policy/rules/built-in-rules.ts";
import type { ConfirmPort } from "../../registry/binding.ts";
import type { AnswerPlace } from "../../registry/confirmation.ts";
import type { OpenWork } from "../open-work.ts";
import { withCountedAnswer } from "./counted-answer.ts";
import { type AnyRequest, cancelledRequest, isAnsweredInAdvance, isChangedTool } from "./request-facts.ts";

/** State of a running request. Its later steps and its ledger row use it. */
export interface RequestProgress {
  /** When the request began, by the host's clock. */
  readonly began: number;
  decision: CarriedDecision | undefined;
  isAnswered?: boolean;
  /** The user's answer to the confirmation; absent if the user gave none. */
  how?: "yes" | "no" | "typed" | "edited" | undefined;
  /** How long the request has waited for the user, by the host's clock. Absent if nobody was asked. */
  confirmationMs?: number | undefined;
  /** The place where a gateway's user answered. */
  answeredIn?: AnswerPlace | undefined;
  /** Identifies the arguments and the definition that the user approved for this one request. */
  confirmedKey?: string | undefined;
  /** Whether the tool's definition changed while the user was asked. A yes then has no effect. */
  isOutdated?: boolean;
  /** Whether the decision changed after the server was connected. */
  isNew?: boolean;
  /** Tells the host that this request no longer needs the server. The host may then stop the server when it is idle. */
  release: (() => void) | undefined;
  /** Ends the turn of this request. The next request of its client may then be sent. */
  leave: (() => void) | undefined;
}

/** The step "confirm" for the requests of one host. */
export interface ConfirmStep {
  /**
   * Returns the decision if the rules allow the request or the user confirms it.
   *
   * @throws HostError `denied` or `changed`
   */
  readonly confirm: (
    request: AnyRequest,
    first: CarriedDecision,
    signal: RequestSignal,
    progress: RequestProgress,
  ) => Promise<CarriedDecision>;
  /** @throws HostError `denied`, with the rule that denies the request */
  readonly refuse: (request: PolicyRequest, decision: CarriedDecision) => Promise<never>;
}

/** What `createConfirmStep` needs: the policy rules, the list of open requests, and the host's clock. */
export interface ConfirmStepOptions {
  readonly current: () => Confirmations | Promise<Confirmations>;
  readonly work: OpenWork;
  readonly clock: Clock;
}

/** Creates the step. `current` returns the rules that apply now. */
export function createConfirmStep({ current, work, clock }: ConfirmStepOptions): ConfirmStep {
  async function refuse(request: PolicyRequest, decision: CarriedDecision): Promise<never> {
    const { refusal } = await import("../../policy/refusal.ts");
    throw refusal(request, decision);
  }

  async function refuseUnconfirmed(
    request: AnyRequest,
    decision: CarriedDecision,
    { isNew = false, isOutdated = false }: RequestProgress,
  ): Promise<never> {
    if (isOutdated) throw (await import("../../policy/refusal.ts")).changedWhileAsked(request, decision);
    if (request.who !== "model" || (isNew && isChangedRule(decision.rule))) return refuse(request, decision);
    const { notConfirmed } = await import("../../policy/refusal.ts");
    throw notConfirmed(request);
  }

  async function confirm(
    request: AnyRequest,
    first: CarriedDecision,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Promise<CarriedDecision> {
    let rules = await current();
    let decision = rules.isCurrent(first, request) ? first : rules.decide(request);
    progress.decision = decision;

    async function decideAgain(): Promise<void> {
      rules = await current();
      decision = rules.decide(request);
      // For a request from the user, the ledger keeps the rule that required the confirmation.
      if (request.who !== "user") progress.decision = decision;
    }

    if (isChangedTool(request, decision) && request.acceptChanged === true) {
      await rules.accept(request);
      progress.isAnswered = true;
      await decideAgain();
    }
    const isOpen = (): boolean =>
      decision.decision === "ask_user" &&
      !isAnsweredInAdvance(request, decision) &&
      (progress.confirmedKey === undefined || progress.confirmedKey !== rules.confirmationKey(request));
    if (isOpen() && request.confirm) {
      await ask(request, { first: decision, port: request.confirm, signal }, progress);
      await decideAgain();
    }
    if (decision.decision === "deny") return refuse(request, decision);
    if (isOpen()) return refuseUnconfirmed(request, decision, progress);
    if (decision.decision === "ask_user") progress.isAnswered = true;
    return decision;
  }

  /** Asks the user. Does not ask if the answer to an earlier question already allows the request. */
  async function ask(
    request: AnyRequest,
    { first, port, signal }: ConfirmOptions,
    progress: RequestProgress,
  ): Promise<void> {
    let decision = first;
    const taking = {
      isOpen: () => !signal.aborted,
      onYes(key?: string) {
        progress.isAnswered = true;
        progress.confirmedKey = key;
      },
      onOutdated() {
        progress.isOutdated = true;
      },
      onAnswer(how: RequestProgress["how"], answeredIn?: AnswerPlace) {
        progress.how = how;
        progress.answeredIn = answeredIn;
      },
    };
    const asked = port(async () => {
      const rules = await current();
      if (!rules.isCurrent(decision, request)) decision = rules.decide(request);
      if (decision.decision === "deny") return refuse(request, decision);
      if (decision.decision === "allow") return false;
      return withCountedAnswer(rules.question(request, decision, request.shown, taking), work);
    });
    const began = clock.now();
    try {
      await unlessAborted(asked, toAbortSignal(signal), () => cancelledRequest(request, signal));
    } finally {
      progress.confirmationMs = (progress.confirmationMs ?? 0) + Math.round(clock.now() - began);
    }
  }

  return { confirm, refuse };
}

/** Options of one question. */
interface ConfirmOptions {
  readonly first: CarriedDecision;
  readonly port: ConfirmPort;
  readonly signal: RequestSignal;
}
