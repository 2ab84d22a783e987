/** The one path of every request: decide → confirm → execute → record → present. */

import type { Clock } from "../../clock.ts";
import { HostError } from "../../errors.ts";
import { type RequestSignal, toAbortSignal, unlessAborted } from "../../mcp/unless-aborted.ts";
import type { CarriedDecision, Confirmations, PolicyRequest } from "../../policy/confirmations.ts";
import { isChangedRule } from "../../policy/rules/built-in-rules.ts";
import type { ConfirmPort } from "../../registry/binding.ts";
import { type AnswerPlace, isYes, type ToolCallConfirmationDetails } from "../../registry/confirmation.ts";
import type { OpenWork } from "../open-work.ts";
import { withCountedAnswer } from "./counted-answer.ts";
import type { AskRequest, HostRequest } from "./host-request.ts";
import { answerOf, type LedgerRow } from "./ledger.ts";
import {
  type AnyRequest,
  cancelledRequest,
  carryKey,
  isAnsweredInAdvance,
  isChangedTool,
  mayDifferOnceConnected,
} from "./request-facts.ts";

export interface SpineOptions {
  readonly current: () => Confirmations | Promise<Confirmations>;
  readonly record: (row: LedgerRow) => void;
  readonly work: OpenWork;
  readonly clock: Clock;
}

/** Runs requests. */
export interface Spine {
  readonly run: <Result, Shown>(request: HostRequest<Result, Shown>) => Promise<Shown>;
  /**
   * Decides about a request without running it, for a program that shows the confirmation itself. Returns `false` if
   * the request may run, otherwise the confirmation to show.
   */
  readonly ask: (request: AskRequest) => Promise<ToolCallConfirmationDetails | false>;
}

/** The facts about a running request that its ledger row needs. */
interface Progress {
  /** The decision that the ledger records. */
  decision?: CarriedDecision;
  isAnswered?: boolean;
  /** The user's answer to the confirmation; absent if the user gave none. */
  how?: "yes" | "no" | "typed" | undefined;
  /** The place where a gateway's user answered. */
  answeredIn?: AnswerPlace | undefined;
  /** Identifies the arguments and the definition that the user approved for this one request. */
  confirmedKey?: string | undefined;
  /** Whether the definition changed while the user was asked, so that the user's yes has no effect. */
  isOutdated?: boolean;
  /** Whether the decision changed after the server was connected. */
  isNew?: boolean;
  release?: (() => void) | undefined;
}

const withoutAnswer: ReturnType<typeof answerOf> = {};

const ignore = (): void => {};

/** Maximum number of decisions that `ask` keeps for `run`. */
const mostCarried = 64;

export function createSpine({ current, record, work, clock }: SpineOptions): Spine {
  /** The decisions with which `ask` allowed requests. `run` uses the decision again for an equal request. */
  const carried = new Map<string, CarriedDecision>();

  function decide(request: AnyRequest, rules: Confirmations): CarriedDecision {
    if (carried.size === 0) return rules.decide(request);
    const key = carryKey(request);
    const known = carried.get(key);
    carried.delete(key);
    return known !== undefined && rules.isCurrent(known, request) ? known : rules.decide(request);
  }

  async function refuse(request: PolicyRequest, decision: CarriedDecision): Promise<never> {
    const { refusal } = await import("../../policy/refusal.ts");
    throw refusal(request, decision);
  }

  async function refuseUnconfirmed(
    request: AnyRequest,
    decision: CarriedDecision,
    { isNew = false, isOutdated = false }: Progress,
  ): Promise<never> {
    if (isOutdated) throw (await import("../../policy/refusal.ts")).changedWhileAsked(request, decision);
    if (request.who !== "model" || (isNew && isChangedRule(decision.rule))) return refuse(request, decision);
    const { notConfirmed } = await import("../../policy/refusal.ts");
    throw notConfirmed(request);
  }

  /**
   * Returns the decision if the rules allow the request or the user confirms it.
   *
   * @throws HostError `denied` or `changed`
   */
  async function confirm(
    request: AnyRequest,
    first: CarriedDecision,
    signal: RequestSignal,
    progress: Progress,
  ): Promise<CarriedDecision> {
    let rules = await current();
    let decision = rules.isCurrent(first, request) ? first : rules.decide(request);
    progress.decision = decision;

    async function decideAgain(): Promise<void> {
      rules = await current();
      decision = rules.decide(request);
      // For a request that the user typed, the ledger records the rule that required the confirmation.
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

  /** Asks the user, unless the request is allowed meanwhile, for example by the answer to an earlier question. */
  async function ask(request: AnyRequest, { first, port, signal }: Asking, progress: Progress): Promise<void> {
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
      onAnswer(how: Progress["how"], place?: AnswerPlace) {
        progress.how = how;
        progress.answeredIn = place;
      },
    };
    const asked = port(async () => {
      const rules = await current();
      if (!rules.isCurrent(decision, request)) decision = rules.decide(request);
      if (decision.decision === "deny") return refuse(request, decision);
      if (decision.decision === "allow") return false;
      return withCountedAnswer(rules.question(request, decision, request.shown, taking), work);
    });
    await unlessAborted(asked, toAbortSignal(signal), () => cancelledRequest(request, signal));
  }

  /**
   * Decides about a request, asks the user if needed, and connects the server. If the server then lists a changed
   * definition of the tool, decides again.
   */
  function admit(request: AnyRequest, signal: RequestSignal, progress: Progress): Admitted {
    const rules = current();
    if (rules instanceof Promise) return rules.then((read) => admitBy(read, request, signal, progress));
    return admitBy(rules, request, signal, progress);
  }

  /** Not `async`, so that an allowed request to a connected server is sent without a delay. */
  function admitBy(rules: Confirmations, request: AnyRequest, signal: RequestSignal, progress: Progress): Admitted {
    const decision = decide(request, rules);
    progress.decision = decision;
    if (request.who !== "user") {
      // A confirmation that a program got through `ask` is valid for one request only.
      if (decision.decision === "ask_user" && request.confirm === undefined && rules.takeConfirmation(request))
        progress.confirmedKey = rules.confirmationKey(request);
      if (decision.decision !== "allow")
        return confirm(request, decision, signal, progress).then((latest) =>
          recheck(connect(request, signal, progress), request, latest, signal, progress),
        );
    } else if (decision.decision !== "allow" && !mayDifferOnceConnected(request, decision)) {
      const isAnswerable = request.confirm !== undefined || isAnsweredInAdvance(request, decision);
      if (decision.decision === "deny" || !isAnswerable) return refuse(request, decision);
    }
    const connecting = connect(request, signal, progress);
    if (connecting === undefined && decision.decision === "allow") return decision;
    return recheck(connecting, request, decision, signal, progress);
  }

  function connect(request: AnyRequest, signal: RequestSignal, progress: Progress): Promise<unknown> | undefined {
    progress.release = request.hold?.();
    return request.connect?.(signal);
  }

  async function recheck(
    connecting: Promise<unknown> | undefined,
    request: AnyRequest,
    first: CarriedDecision,
    signal: RequestSignal,
    progress: Progress,
  ): Promise<CarriedDecision> {
    await connecting;
    const rules = await current();
    let decision = first;
    if (!rules.isCurrent(decision, request)) {
      decision = rules.decide(request);
      progress.isNew = true;
    }
    if (decision.decision !== "allow") return confirm(request, decision, signal, progress);
    progress.decision = decision;
    return decision;
  }

  function write(request: AnyRequest, progress: Progress, outcome: LedgerRow["outcome"], began: number): void {
    const { decision, isAnswered, how, answeredIn } = progress;
    if (decision === undefined) return;
    const { acceptChanged, confirmed } = request;
    const isAsking = decision.decision === "ask_user";
    const { answer, refusal } =
      isAsking || isAnswered === true
        ? answerOf({ outcome, isAsking, isAnswered, how, acceptChanged, confirmed })
        : withoutAnswer;
    const durationMs = Math.round(clock.now() - began);
    record({ request, decision, outcome, answer, answeredIn, refusal, durationMs });
  }

  /** Runs all steps in one `async` function, because each further promise makes a small call slower. */
  async function throughSteps<Result, Shown>(
    request: HostRequest<Result, Shown>,
    signal: RequestSignal,
  ): Promise<Shown> {
    work.enter(request.stop);
    try {
      const began = clock.now();
      const progress: Progress = {};
      let result: Result;
      try {
        const admitted = admit(request, signal, progress);
        const decision = admitted instanceof Promise ? await admitted : admitted;
        if (request.onAllowed)
          request.onAllowed((await import("../../policy/rules/rule-text.ts")).ruleText(decision.rule));
        if (signal.aborted) throw cancelledRequest(request, signal);
        result = await request.execute(signal);
        write(request, progress, request.outcomeOf?.(result) ?? "ok", began);
      } catch (error) {
        write(request, progress, error instanceof HostError ? error.code : "internal", began);
        throw error;
      } finally {
        progress.release?.();
      }
      const shown = request.present(result);
      return shown instanceof Promise ? await shown : shown;
    } finally {
      work.leave(request.stop);
    }
  }

  return {
    run(request) {
      const running =
        request.stop === undefined && request.signal !== undefined
          ? work.run((signal) => throughSteps(request, signal), request.signal)
          : throughSteps(request, request.stop ?? work.closingStop);
      // Without this handler, an error that the caller awaits only later would end the process.
      running.catch(ignore);
      return running;
    },

    ask: (request) =>
      work.run(async () => {
        const rules = await current();
        const decision = rules.decide(request);
        const denied: LedgerRow = { request, decision, outcome: "denied", durationMs: 0 };
        if (decision.decision === "deny") {
          record(denied);
          return refuse(request, decision);
        }
        if (decision.decision === "allow") {
          if (carried.size >= mostCarried) carried.clear();
          carried.set(carryKey(request), decision);
          return false;
        }
        const details = rules.question(request, decision, request.shown);
        let isAnswered = false;
        const onConfirm: ToolCallConfirmationDetails["onConfirm"] = (outcome) =>
          work.run(async () => {
            if (!isAnswered && !isYes(outcome)) record({ ...denied, refusal: "user" });
            isAnswered = true;
            await details.onConfirm(outcome);
          });
        return { ...details, onConfirm };
      }),
  };
}

/** The decision that allows a request. It is a promise if the request must wait, for example for the user. */
type Admitted = CarriedDecision | Promise<CarriedDecision>;

interface Asking {
  readonly first: CarriedDecision;
  readonly port: ConfirmPort;
  readonly signal: RequestSignal;
}
