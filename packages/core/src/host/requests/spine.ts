/** The steps of every request: decide → confirm → execute → record → present. */

import { HostError } from "../../errors.ts";
import type { RequestSignal } from "../../mcp/unless-aborted.ts";
import type { CarriedDecision, Confirmations } from "../../policy/confirmations.ts";
import { isYes, type ToolCallConfirmationDetails } from "../../registry/confirmation.ts";
import { type ConfirmStepOptions, createConfirmStep, type RequestProgress } from "./confirm-step.ts";
import type { ConfirmationRequest, HostRequest } from "./host-request.ts";
import { answerOf, type LedgerRow } from "./ledger.ts";
import {
  type AnyRequest,
  cancelledRequest,
  carryKey,
  isAnsweredInAdvance,
  mayDifferOnceConnected,
} from "./request-facts.ts";

/** The rules, the ledger and the clock that every request uses. */
export interface SpineOptions extends ConfirmStepOptions {
  readonly record: (row: LedgerRow) => void;
}

/** Runs requests. */
export interface Spine {
  readonly run: <Result, Shown>(request: HostRequest<Result, Shown>) => Promise<Shown>;
  /**
   * Decides about a request without running it. Use it in a program that shows the confirmation itself. Returns the
   * confirmation to show, or `false` if none is needed.
   */
  readonly ask: (request: ConfirmationRequest) => Promise<ToolCallConfirmationDetails | false>;
}

const withoutAnswer: ReturnType<typeof answerOf> = {};

const ignore = (): void => {};

/** Maximum number of decisions that `ask` keeps for `run`. */
const mostCarried = 64;

/** Creates the path that all requests of one host take. */
export function createSpine({ current, record, work, clock }: SpineOptions): Spine {
  const { confirm, refuse } = createConfirmStep({ current, work, clock });
  /** Decisions of `ask` that allowed a request. `run` uses such a decision for the next equal request. */
  const carried = new Map<string, CarriedDecision>();

  function decide(request: AnyRequest, rules: Confirmations): CarriedDecision {
    if (carried.size === 0) return rules.decide(request);
    const key = carryKey(request);
    const carriedDecision = carried.get(key);
    carried.delete(key);
    return carriedDecision !== undefined && rules.isCurrent(carriedDecision, request)
      ? carriedDecision
      : rules.decide(request);
  }

  /**
   * Decides about a request, asks the user if needed, and connects the server. If the definition has changed by then,
   * decides again.
   */
  function admit(request: AnyRequest, signal: RequestSignal, progress: RequestProgress): Admitted {
    const rules = current();
    if (rules instanceof Promise) return rules.then((read) => admitBy(read, request, signal, progress));
    return admitBy(rules, request, signal, progress);
  }

  /** Not `async`: an allowed request to a connected server is sent immediately. */
  function admitBy(
    rules: Confirmations,
    request: AnyRequest,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Admitted {
    const decision = decide(request, rules);
    progress.decision = decision;
    if (decision.decision === "deny") {
      if (rules.isDeniedByName(request)) return refuse(request, decision);
    } else if (request.who !== "user") {
      // A confirmation through `ask` is valid for only one request.
      if (decision.decision === "ask_user" && request.confirm === undefined && rules.takeConfirmation(request))
        progress.confirmedKey = rules.confirmationKey(request);
      if (decision.decision !== "allow")
        return confirm(request, decision, signal, progress).then((latest) =>
          recheck(connect(request, signal, progress), request, latest, signal, progress),
        );
    } else if (decision.decision === "ask_user" && !mayDifferOnceConnected(request, decision)) {
      const isAnswerable = request.confirm !== undefined || isAnsweredInAdvance(request, decision);
      if (!isAnswerable) return refuse(request, decision);
    }
    const connecting = connect(request, signal, progress);
    if (connecting === undefined && decision.decision === "allow") return decision;
    return recheck(connecting, request, decision, signal, progress);
  }

  function connect(
    request: AnyRequest,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Promise<unknown> | undefined {
    progress.release = request.hold?.();
    return request.connect?.(signal);
  }

  async function recheck(
    connecting: Promise<unknown> | undefined,
    request: AnyRequest,
    first: CarriedDecision,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Promise<CarriedDecision> {
    await connecting;
    const rules = await current();
    let decision = first;
    if (!rules.isCurrent(decision, request)) {
      decision = rules.decide(request);
      progress.isNew = true;
    }
    if (decision.decision !== "allow")
      return unlessChanged(request, await confirm(request, decision, signal, progress), signal);
    progress.decision = decision;
    return decision;
  }

  /**
   * Returns the decision, unless the server has changed while the user was asked.
   *
   * @throws HostError `changed`
   */
  async function unlessChanged(
    request: AnyRequest,
    decision: CarriedDecision,
    signal: RequestSignal,
  ): Promise<CarriedDecision> {
    const reading = request.connect?.(signal);
    if (reading === undefined) return decision;
    await reading;
    const rules = await current();
    if (rules.isCurrent(decision, request)) return decision;
    throw (await import("../../policy/refusal.ts")).changedWhileAsked(request, rules.decide(request));
  }

  function write(request: AnyRequest, progress: RequestProgress, outcome: LedgerRow["outcome"]): void {
    const { began, decision, isAnswered, how, answeredIn, confirmationMs } = progress;
    if (decision === undefined) return;
    const { acceptChanged, confirmed } = request;
    const needsConfirmation = decision.decision === "ask_user";
    const { answer, refusal } =
      needsConfirmation || isAnswered === true
        ? answerOf({ outcome, needsConfirmation, isAnswered, how, acceptChanged, confirmed })
        : withoutAnswer;
    const durationMs = Math.round(clock.now() - began);
    record({ request, decision, outcome, answer, answeredIn, refusal, durationMs, confirmationMs });
  }

  /** Runs all steps. Not `async`, because each additional promise makes a small call slower. */
  function throughSteps<Result, Shown>(request: HostRequest<Result, Shown>, signal: RequestSignal): Promise<Shown> {
    // Sets all common members here: V8 stores members that are added later in a second object, which is slower.
    const progress: RequestProgress = {
      began: clock.now(),
      decision: undefined,
      release: undefined,
      leave: undefined,
    };
    let executing: Promise<Result>;
    try {
      work.enter(request.stop);
    } catch (error) {
      return Promise.reject(error);
    }
    try {
      const admitted = admit(request, signal, progress);
      executing =
        admitted instanceof Promise || request.onAllowed !== undefined
          ? executeLater(request, admitted, signal, progress)
          : execute(request, signal, progress);
    } catch (error) {
      executing = Promise.reject(error);
    }
    return executing.then(
      (result) => finish(request, progress, result),
      (error: unknown) => fail(request, progress, error),
    );
  }

  function execute<Result>(
    request: HostRequest<Result, unknown>,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Promise<Result> {
    if (signal.aborted) throw cancelledRequest(request, signal);
    const turn = request.turn?.(signal);
    if (turn instanceof Promise) return executeInTurn(request, turn, signal, progress);
    progress.leave = turn;
    return request.execute(signal);
  }

  /** While the request waited for its turn, the rules may have changed, or the server may have reported a change. */
  async function executeInTurn<Result>(
    request: HostRequest<Result, unknown>,
    turn: Promise<() => void>,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Promise<Result> {
    progress.leave = await turn.catch((error: unknown) => {
      throw signal.aborted ? cancelledRequest(request, signal) : error;
    });
    const { decision } = progress;
    if (signal.aborted || decision === undefined) throw cancelledRequest(request, signal);
    await request.connect?.(signal);
    if ((await current()).isCurrent(decision, request)) return request.execute(signal);
    // A person may have to be asked, and that takes no turn.
    progress.leave();
    progress.leave = undefined;
    await recheck(undefined, request, decision, signal, progress);
    return execute(request, signal, progress);
  }

  async function executeLater<Result>(
    request: HostRequest<Result, unknown>,
    admitted: Admitted,
    signal: RequestSignal,
    progress: RequestProgress,
  ): Promise<Result> {
    const { rule } = await admitted;
    if (request.onAllowed) request.onAllowed((await import("../../policy/rules/rule-text.ts")).ruleText(rule));
    return execute(request, signal, progress);
  }

  function finish<Result, Shown>(
    request: HostRequest<Result, Shown>,
    progress: RequestProgress,
    result: Result,
  ): Shown | Promise<Shown> {
    try {
      write(request, progress, request.outcomeOf?.(result) ?? "ok");
    } catch (error) {
      return fail(request, progress, error);
    }
    let shown: Shown | Promise<Shown> | undefined;
    try {
      progress.leave?.();
      progress.release?.();
      shown = request.present(result);
      return shown;
    } finally {
      if (shown instanceof Promise) leaveAfter(shown, request);
      else work.leave(request.stop);
    }
  }

  function leaveAfter(presenting: Promise<unknown>, { stop }: AnyRequest): void {
    const leave = (): void => work.leave(stop);
    presenting.then(leave, leave);
  }

  function fail(request: AnyRequest, progress: RequestProgress, error: unknown): never {
    try {
      write(request, progress, error instanceof HostError ? error.code : "internal");
      throw error;
    } finally {
      progress.leave?.();
      progress.release?.();
      work.leave(request.stop);
    }
  }

  return {
    run(request) {
      const running =
        request.stop === undefined && request.signal !== undefined
          ? work.run((signal) => throughSteps(request, signal), request.signal)
          : throughSteps(request, request.stop ?? work.closingStop);
      // If the caller awaits the promise only later, Node would report an unhandled rejection and end the process.
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

/** The decision that allows a request; a promise if the request must wait, for example for the user. */
type Admitted = CarriedDecision | Promise<CarriedDecision>;
