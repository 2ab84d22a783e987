/**
 * What administrators, operators and auditors of a team do. Every action checks the role, and every change is a row of
 * the ledger with its author, also one that was refused.
 */

import { HostError } from "@fairlead/core";
import { canonicalJson } from "@fairlead/core/plain-text";
import type { ConsentQuestion } from "@fairlead/gateway/consent/confirmed-request";
import type { JsonObject } from "@fairlead/wire";
import { createApiKey, networksOf } from "../auth/api-key-verifier.ts";
import { type Role, roles, scopes } from "../auth/caller.ts";
import { type ApprovalAnswer, readQuestion } from "../people/team-consent.ts";
import type { ApiKey } from "../store/api-keys.ts";
import type { ConfigVersion } from "../store/configs.ts";
import type { KeyRing } from "../store/key-ring.ts";
import { type CountedBy, type LedgerSearch, newRequestId, type ReadRow, type RowCount } from "../store/ledger.ts";
import type { Owner } from "../store/owner.ts";
import type { StoredQuestion } from "../store/questions.ts";
import type { Replica } from "../store/replicas.ts";
import type { TeamStore } from "../store/store.ts";
import { type Actor, mayAnswer, roleFor } from "./actor.ts";

/** Longest life of an access token, in milliseconds. A revocation counts for so long. */
const longestTokenLife = 30 * 86_400_000;
const day = 86_400_000;

export interface TeamAdminOptions {
  readonly store: TeamStore;
  readonly ring: KeyRing;
  readonly tenant: number;
  readonly actor: Actor;
  /** In milliseconds since 1970. */
  readonly now: () => number;
  /** Removes what a user has signed in to at the issuers. Default: the stored sign-ins are removed. */
  readonly signOut?: (owner: Owner) => Promise<number>;
}

/** A key to make. */
export interface NewApiKey {
  /** Whose key it is: the id of a machine, or a user. */
  readonly principal: string;
  readonly scopes: readonly string[];
  readonly role: string;
  readonly networks: readonly string[];
  /** In milliseconds since 1970. */
  readonly expiresAt?: number | undefined;
}

/** What was taken from a user. */
export interface RevokedAccess {
  readonly keys: number;
  readonly signIns: number;
}

/** A question as it is stored, and what it asks. */
export interface WaitingRequest {
  readonly stored: StoredQuestion;
  readonly question: ConsentQuestion;
}

/** What `team status` shows. */
export interface TeamStatus {
  readonly replicas: readonly Replica[];
  /** The current policy and settings; absent: none was pushed. */
  readonly policy: Omit<ConfigVersion, "body"> | undefined;
  readonly settings: Omit<ConfigVersion, "body"> | undefined;
  /** Requests of the last 24 hours, by server and outcome. */
  readonly requests: readonly RowCount[];
  /** Questions that wait for a person. */
  readonly questions: number;
}

export class TeamAdmin {
  readonly #options: TeamAdminOptions;

  constructor(options: TeamAdminOptions) {
    this.#options = options;
  }

  async status(): Promise<TeamStatus> {
    const { store, tenant, now } = this.#options;
    roleFor(this.#options.actor, "the status of the team", "operator", "admin", "auditor");
    const [replicas, policy, settings, requests, questions] = await Promise.all([
      store.replicas.list(),
      store.configs.current(tenant, "policy"),
      store.configs.current(tenant, "settings"),
      store.ledger.count({ tenant, since: now() - day, limit: 1000 }, ["server", "outcome"]),
      store.questions.open(tenant),
    ]);
    return {
      replicas,
      policy: policy && withoutBody(policy),
      settings: settings && withoutBody(settings),
      requests,
      questions: questions.length,
    };
  }

  /** The history of all users. */
  async audit(search: Omit<LedgerSearch, "tenant">): Promise<readonly ReadRow[]> {
    const { store, tenant, actor } = this.#options;
    roleFor(actor, "the history of all users", "auditor", "admin");
    return store.ledger.read({ ...search, tenant });
  }

  count(search: Omit<LedgerSearch, "tenant">, by: readonly CountedBy[]): Promise<readonly RowCount[]> {
    const { store, tenant, actor } = this.#options;
    roleFor(actor, "the history of all users", "auditor", "admin");
    return store.ledger.count({ ...search, tenant }, by);
  }

  /** All versions of the policy, oldest first. */
  async policies(): Promise<readonly ConfigVersion[]> {
    const { store, tenant, actor } = this.#options;
    roleFor(actor, "the policy", "admin", "auditor", "operator");
    return (await store.configs.since(tenant, 0)).filter(({ kind }) => kind === "policy");
  }

  /** @throws HostError `not_found` */
  async policy(version: number | undefined): Promise<ConfigVersion> {
    const { store, tenant, actor } = this.#options;
    roleFor(actor, "the policy", "admin", "auditor", "operator");
    const found =
      version === undefined ? await store.configs.current(tenant, "policy") : await store.configs.read(tenant, version);
    if (found?.kind === "policy") return found;
    const message = version === undefined ? "no policy was pushed" : `there is no version ${version} of the policy`;
    throw new HostError("not_found", message, {
      next: version === undefined ? "fairlead team policy push FILE" : "fairlead team policy list",
    });
  }

  /**
   * Makes a text the current policy. The caller has read it and found no mistake.
   *
   * @param expected The version that was the current one when the change was shown. 0: none.
   * @throws HostError `changed` if another one is current now
   */
  pushPolicy(body: string, expected: number, action = "policy push"): Promise<ConfigVersion> {
    const { store, tenant, actor } = this.#options;
    return this.#change(action, { expected }, ["admin"], async () => {
      const pushed = await store.configs.push({ tenant, kind: "policy", body, author: actor.principal }, expected);
      return { result: pushed, facts: { version: pushed.version, sha256: pushed.sha256 } };
    });
  }

  /** Makes an earlier version the current one again, as a new version. */
  async rollback(version: number, expected: number): Promise<ConfigVersion> {
    const { body } = await this.policy(version);
    return this.pushPolicy(body, expected, `policy rollback ${version}`);
  }

  /**
   * Makes an API key. Returns its text, which is stored nowhere.
   *
   * @throws HostError `usage` for an unknown role, scope or network
   */
  addKey(wanted: NewApiKey): Promise<{ readonly key: ApiKey; readonly text: string }> {
    const { store, tenant, actor } = this.#options;
    const { principal, expiresAt, ...rest } = wanted;
    return this.#change("keys add", { principal, role: wanted.role }, ["admin"], async () => {
      checkKey(wanted);
      const made = createApiKey({
        ...rest,
        owner: { tenant, principal },
        createdBy: actor.principal,
        ...(expiresAt !== undefined && { expiresAt }),
      });
      await store.apiKeys.add(made.key);
      return { result: made, facts: { key: made.key.id } };
    });
  }

  async keys(): Promise<readonly ApiKey[]> {
    const { store, tenant, actor } = this.#options;
    roleFor(actor, "the API keys", "admin", "auditor");
    return store.apiKeys.list(tenant);
  }

  /** @throws HostError `not_found` */
  revokeKey(id: string): Promise<void> {
    const { store, tenant } = this.#options;
    return this.#change("keys revoke", { key: id }, ["admin"], async () => {
      if (!(await store.apiKeys.revoke(tenant, id)))
        throw new HostError("not_found", `there is no API key ${id}`, { next: "fairlead team keys list" });
      return { result: undefined, facts: {} };
    });
  }

  /** Refuses all tokens that a user has now, revokes the user's API keys, and removes the user's sign-ins to servers. */
  revokeUser(principal: string): Promise<RevokedAccess> {
    const { store, tenant, now, signOut } = this.#options;
    const owner = { tenant, principal };
    return this.#change("revoke", { user: principal }, ["admin", "operator"], async () => {
      // First, so that a token that is used meanwhile signs in nowhere.
      await store.revocations.revoke({ ...owner, issuedBefore: now(), until: now() + longestTokenLife });
      const own = (await store.apiKeys.list(tenant)).filter((key) => key.owner.principal === principal);
      for (const { id } of own) await store.apiKeys.revoke(tenant, id);
      const signIns = await (signOut ?? ((user) => this.#removeSignIns(user)))(owner);
      const result = { keys: own.length, signIns };
      return { result, facts: result };
    });
  }

  /** The questions that wait for an answer and that the actor may answer, oldest first. */
  async questions(): Promise<readonly WaitingRequest[]> {
    const { store, tenant, actor } = this.#options;
    const open = await store.questions.open(tenant);
    return open.flatMap((stored) => {
      const question = readQuestion(stored);
      const isTheirs = question !== undefined && mayAnswer(actor, question.approver, stored.owner.principal);
      return isTheirs ? [{ stored, question }] : [];
    });
  }

  /**
   * A question that the actor may see: their own, also if another one answers it, and those that they may answer.
   *
   * @throws HostError `not_found`, also if it is none of the actor's business
   */
  async question(id: string): Promise<WaitingRequest & { readonly mayAnswer: boolean }> {
    const { store, tenant, actor } = this.#options;
    const stored = await store.questions.read(tenant, id);
    const question = stored && readQuestion(stored);
    if (stored === undefined || question === undefined) throw noQuestion(id);
    const isPermitted = mayAnswer(actor, question.approver, stored.owner.principal);
    if (!isPermitted && stored.owner.principal !== actor.principal) throw noQuestion(id);
    return { stored, question, mayAnswer: isPermitted };
  }

  /**
   * Answers a question. Only the first answer counts.
   *
   * @throws HostError `denied` if the actor may not answer it, `not_found` if it is not open
   */
  async answer(id: string, answer: ApprovalAnswer): Promise<void> {
    const { store, tenant, actor } = this.#options;
    const { stored, question, mayAnswer: isPermitted } = await this.question(id);
    const { server, name: tool, approver } = question;
    const facts = { question: id, user: stored.owner.principal, server, tool, answer: answer.answer };
    const permit = (): string => {
      if (isPermitted) return approver === undefined ? "the user answers" : `a member of ${approver} answers`;
      throw new HostError("denied", `the answer is not yours to give: a member of ${approver} must answer`, {
        serverName: server,
      });
    };
    const action = answer.answer === "no" ? "approvals deny" : "approvals allow";
    await this.#change(action, facts, permit, async () => {
      const given = question.answers.includes(answer.answer) ? answer : { ...answer, answer: "no" as const };
      if (!(await store.questions.answer(tenant, id, { by: actor.principal, json: JSON.stringify(given) })))
        throw noQuestion(id);
      return { result: undefined, facts: {} };
    });
  }

  async #removeSignIns(owner: Owner): Promise<number> {
    const { store } = this.#options;
    const grants = await store.grants.list(owner);
    for (const { key } of grants) await store.grants.remove(key);
    return grants.length;
  }

  /** Runs a change and writes its row. A refused or failed one has a row, too. */
  async #change<Result>(
    action: string,
    asked: JsonObject,
    needed: readonly Role[] | (() => string),
    work: () => Promise<{ readonly result: Result; readonly facts: JsonObject }>,
  ): Promise<Result> {
    const { actor } = this.#options;
    let rule: string | undefined;
    try {
      rule = typeof needed === "function" ? needed() : `the role ${roleFor(actor, action, ...needed)} permits it`;
      const { result, facts } = await work();
      await this.#record(action, { ...asked, ...facts }, rule, "allow", "ok");
      return result;
    } catch (error) {
      const code = error instanceof HostError ? error.code : "internal";
      const why = error instanceof HostError ? error.message : "";
      const decision = rule === undefined ? "deny" : "allow";
      await this.#record(action, asked, rule ?? why, decision, code).catch(() => undefined);
      throw error;
    }
  }

  async #record(
    action: string,
    facts: JsonObject,
    rule: string,
    decision: "allow" | "deny",
    outcome: ReadRow["outcome"],
  ): Promise<void> {
    const { store, ring, tenant, actor, now } = this.#options;
    const current = await store.configs.current(tenant, "policy");
    await store.ledger.record({
      id: newRequestId(now()),
      owner: { tenant, principal: actor.principal },
      replica: 0,
      kind: "admin",
      server: "fairlead",
      tool: action,
      argsDigest: ring.digest(canonicalJson(facts)),
      arguments: facts,
      decision,
      rule,
      mode: "default",
      outcome,
      durationMs: 0,
      configVersion: current?.version ?? 0,
    });
  }
}

function noQuestion(id: string): HostError {
  return new HostError("not_found", `there is no open question ${id}`, { next: "fairlead team approvals" });
}

function withoutBody({ body: _body, ...version }: ConfigVersion): Omit<ConfigVersion, "body"> {
  return version;
}

function checkKey({ principal, role, scopes: wanted, networks }: NewApiKey): void {
  const unknown = wanted.find((scope) => !scopes.some((each) => each === scope));
  if (unknown !== undefined)
    throw new HostError("usage", `there is no scope "${unknown}"`, { next: `Use one of: ${scopes.join(", ")}.` });
  if (!roles.some((each) => each === role))
    throw new HostError("usage", `there is no role "${role}"`, { next: `Use one of: ${roles.join(", ")}.` });
  if (principal === "" || /\p{C}/u.test(principal))
    throw new HostError("usage", "the owner of the key is empty or has control characters");
  try {
    networksOf(networks, "the key");
  } catch (error) {
    throw new HostError("usage", error instanceof Error ? error.message : "a network is invalid", { cause: error });
  }
}
