/**
 * Which definitions of one server's tools the user has accepted. A tool whose definition differs runs only after the
 * user has accepted the change.
 */

import type { ChangedDefinition } from "../policy/decide.ts";
import type { Skill } from "../skills/skill.ts";
import { createTurns } from "../text/turns.ts";
import { type AcceptedDefinitions, withDigests } from "./accepted-definitions.ts";
import type { CatalogTool } from "./catalog.ts";
import { type Difference, definitionDigest, definitionOf, differenceOf } from "./tool-changes.ts";

/** A definition that the user approved. `tool` is absent if only the digest is stored. */
export interface Accepted {
  readonly digest: string;
  readonly tool?: CatalogTool | undefined;
}

/** Compares one server with the lock file of its workspace. */
export interface ServerLock {
  /** The tool's digest in the lock file; `none` if it does not contain the tool; undefined if the server is not locked. */
  readonly digestOf: (tool: string) => string | undefined;
  /** How the server itself differs, for example in its command. With a difference, all its tools count as changed. */
  readonly drift: () => readonly Difference[];
  /** How a prompt differs. Undefined if it does not differ, or if the server is not locked. */
  readonly promptDrift: (prompt: string) => readonly Difference[] | undefined;
  /** How a skill differs. Undefined if it does not differ, or if the server is not locked. */
  readonly skillDrift: (skill: Skill) => readonly Difference[] | undefined;
}

/** For a server that no lock file covers. */
export const noLock: ServerLock = {
  digestOf: () => undefined,
  drift: () => [],
  promptDrift: () => undefined,
  skillDrift: () => undefined,
};

interface AcceptedTool {
  readonly digests: readonly string[];
  /** The accepted definition itself; absent if only its digest is stored. */
  readonly tool?: CatalogTool | undefined;
  /** True if the definition was accepted without asking the user, because the tool was new. */
  readonly isNew?: boolean;
}

/** The number of tools that are compared without a pause. */
const comparedAtOnce = 500;
/** Maximum number of accepted definitions of changed or missing tools that the cache keeps for one server. */
const mostKept = 1000;

/** The definitions that the user has accepted for the tools of one server. All connections to the server share them. */
export class AcceptedTools {
  readonly lock: () => ServerLock;
  /** Accepted definitions from earlier runs. */
  #earlier: AcceptedDefinitions | undefined;
  /** Why accepted definitions cannot be saved. */
  #unsaved: string | undefined;
  readonly #accepted = new Map<string, AcceptedTool>();
  readonly #listings = new Set<ListedTools>();
  /**
   * Definitions that the user accepted in this run although they differ from the lock file. The key is the tool name,
   * the value identifies the definition.
   */
  readonly #unlocked = new Map<string, string>();

  /** @param lock Returns the lock file that applies now. */
  constructor(lock: () => ServerLock = () => noLock) {
    this.lock = lock;
  }

  /** Sets the accepted definitions from earlier runs. Call it before `list`. */
  setEarlier(accepted: AcceptedDefinitions): void {
    this.#earlier = accepted;
  }

  /** Adds the definitions that the user has accepted in another process since `setEarlier`. */
  addEarlier(accepted: AcceptedDefinitions): void {
    const before = this.#earlier;
    this.#earlier = accepted;
    for (const [name, own] of this.#accepted) {
      const others = (accepted.of(name) ?? []).filter(
        (digest) => before?.of(name)?.includes(digest) !== true && !own.digests.includes(digest),
      );
      if (others.length > 0) this.#accepted.set(name, { ...own, digests: withDigests(own.digests, others) });
    }
  }

  /**
   * Sets why the accepted definitions cannot be saved; undefined if they can. With a reason, every new tool counts as
   * changed.
   */
  setUnsaved(reason: string | undefined): void {
    this.#unsaved = reason;
  }

  /** Whether the accepted definitions could not be saved. */
  get isUnsaved(): boolean {
    return this.#unsaved !== undefined;
  }

  /**
   * Adds the tools that a connection lists, or that the cache has for it (`isNew: false`). A listed tool without an
   * accepted definition is new and not changed, unless the store of accepted definitions is full.
   *
   * @param before The earlier list of the same connection. Its new tools are accepted first: if the next list changes such
   *   a tool, it counts as changed.
   */
  list(tools: readonly CatalogTool[], { isNew, before }: { isNew: boolean; before?: ListedTools }): ListedTools {
    if (before !== undefined) this.drop(before);
    const listed = new ListedTools(tools, isNew, this);
    this.#listings.add(listed);
    return listed;
  }

  drop(listed: ListedTools): void {
    listed.compareAll();
    this.#listings.delete(listed);
  }

  /**
   * Compares a tool with its accepted definition. Without an accepted definition, accepts the tool's own, unless the
   * store is full.
   */
  meet(tool: CatalogTool, isNew: boolean): void {
    const { name } = tool;
    const accepted = this.of(name);
    const digest = definitionDigest(tool);
    if (accepted === undefined && this.#earlier?.isFull !== true)
      this.#accepted.set(name, { digests: [digest], tool, isNew });
    if (accepted?.digests.includes(digest)) this.#accepted.set(name, { ...accepted, tool });
  }

  /** The accepted definition of a tool. One from this run replaces one from an earlier run. */
  of(name: string): AcceptedTool | undefined {
    const now = this.#accepted.get(name);
    if (now !== undefined) return now;
    const before = this.#earlier?.of(name);
    return before && { digests: before };
  }

  /** Whether the digest is one of those that were accepted under the name. */
  isAccepted(name: string, digest: string): boolean {
    return this.of(name)?.digests.includes(digest) === true;
  }

  /** Accepts a digest under a name that has none yet, unless the store is full. Returns whether it did. */
  acceptFirst(name: string, digest: string): boolean {
    if (this.of(name) !== undefined || this.#earlier?.isFull === true) return false;
    this.#accepted.set(name, { digests: [digest], isNew: true });
    return true;
  }

  /** Adds a digest that the user accepts now. */
  acceptDigest(name: string, digest: string): void {
    this.#accepted.set(name, { digests: withDigests(this.of(name)?.digests ?? [], [digest]) });
  }

  /** Replaces all accepted definitions of the tool by the definition that the user approved. */
  expect(name: string, { digest, tool }: Accepted): void {
    for (const listed of this.#listings) listed.compare(name);
    this.#accepted.set(name, { digests: [digest], tool });
  }

  /** Adds a definition that the user accepts now. */
  accept(tool: CatalogTool): void {
    const drift = this.lockDrift(tool);
    if (drift) this.#unlocked.set(tool.name, approvalKeyOf(tool, drift));
    const accepted = this.of(tool.name)?.digests ?? [];
    this.#accepted.set(tool.name, { digests: withDigests(accepted, [definitionDigest(tool)]), tool });
  }

  /** Whether an accepted definition or the lock file shows how the tool was defined before. */
  isComparable(name: string): boolean {
    return this.#earlier?.of(name) !== undefined || this.lock().digestOf(name) !== undefined;
  }

  /** Whether the user has accepted this difference from the lock file in this run. */
  isUnlocked(tool: CatalogTool, drift: readonly Difference[]): boolean {
    return this.#unlocked.get(tool.name) === approvalKeyOf(tool, drift);
  }

  /** How a tool differs from its definition in the lock file; undefined if it does not differ. */
  lockDrift(tool: CatalogTool): readonly Difference[] | undefined {
    const drift = this.lock().drift();
    const expected = this.lock().digestOf(tool.name);
    const isOther = expected !== undefined && expected !== definitionDigest(tool);
    // The lock file has only the tool's digest. So the difference shows the whole new definition.
    return isOther || drift.length > 0 ? [...drift, ...(isOther ? wholeOf(tool) : [])] : undefined;
  }

  /** Why Fairlead cannot tell whether this definition has changed; undefined if Fairlead can tell. */
  doubtAbout(tool: CatalogTool): string | undefined {
    if (this.#unsaved === undefined || this.#accepted.get(tool.name)?.isNew !== true) return undefined;
    const digest = definitionDigest(tool);
    const isStored = this.#earlier?.of(tool.name)?.includes(digest) ?? false;
    const isLocked = this.lock().digestOf(tool.name) === digest;
    return isStored || isLocked ? undefined : this.#unsaved;
  }

  /** The accepted definitions of tools that now have another definition or are no longer listed. */
  unaccepted(listed: ListedTools): readonly CatalogTool[] {
    return [...this.#all()]
      .flatMap(([name, { tool }]) => {
        const now = listed.toolOf(name);
        return tool && (now === undefined || listed.isChanged(now)) ? [tool] : [];
      })
      .slice(-mostKept);
  }

  /** Digests of definitions that were accepted in this run and are not saved yet, by tool name. */
  news(): ReadonlyMap<string, readonly string[]> {
    const added = [...this.#all()].map(([name, { digests: now }]) => {
      const before = this.#earlier?.of(name) ?? [];
      return [name, now.filter((digest) => !before.includes(digest))] as const;
    });
    return new Map(added.filter(([, more]) => more.length > 0));
  }

  /** All accepted definitions. First compares every listed tool that was not compared yet. */
  #all(): ReadonlyMap<string, AcceptedTool> {
    for (const listed of this.#listings) listed.compareAll();
    return this.#accepted;
  }
}

/** The tools that one connection lists, compared with the accepted definitions when they are first needed. */
export class ListedTools {
  readonly #listed: () => ReadonlyMap<string, CatalogTool>;
  /** Whether listed tools without an accepted definition are new. False for tools of a cached catalog. */
  readonly #isNew: boolean;
  readonly #accepted: AcceptedTools;
  /** Names of the tools that were already compared with their accepted definitions. Undefined if all were compared. */
  #compared: Set<string> | undefined = new Set();

  constructor(tools: readonly CatalogTool[], isNew: boolean, accepted: AcceptedTools) {
    this.#listed = byName(tools);
    this.#isNew = isNew;
    this.#accepted = accepted;
  }

  toolOf(name: string): CatalogTool | undefined {
    return this.#listed().get(name);
  }

  tools(): readonly CatalogTool[] {
    return [...this.#listed().values()];
  }

  /** Whether the tool or its server differs from the lock file. An approval for the tool then cannot be saved. */
  isLockedOut(name: string): boolean {
    const tool = this.toolOf(name);
    return tool !== undefined && this.#accepted.lockDrift(tool) !== undefined;
  }

  /** How the tool differs from the accepted definition; undefined if it does not. */
  changeOf(name: string): ChangedDefinition | undefined {
    const tool = this.toolOf(name);
    if (tool === undefined) return undefined;
    const drift = this.#accepted.lockDrift(tool);
    if (this.isChanged(tool)) {
      const before = this.#accepted.of(name)?.tool;
      return {
        difference: () => [...this.#accepted.lock().drift(), ...(before ? differenceOf(before, tool) : wholeOf(tool))],
      };
    }
    if (drift !== undefined && !this.#accepted.isUnlocked(tool, drift)) return { difference: () => drift };
    const doubt = this.#accepted.doubtAbout(tool);
    return doubt === undefined ? undefined : { difference: () => [], doubt };
  }

  isChanged(tool: CatalogTool): boolean {
    this.compare(tool.name);
    return this.#accepted.of(tool.name)?.digests.includes(definitionDigest(tool)) !== true;
  }

  /** Accepts the tool's current definition. */
  accept(name: string): void {
    this.compare(name);
    const tool = this.toolOf(name);
    if (tool !== undefined) this.#accepted.accept(tool);
  }

  /** Compares a listed tool with its accepted definition, unless they have been compared before. */
  compare(name: string): void {
    const tool = this.#compared?.has(name) === false ? this.toolOf(name) : undefined;
    if (tool === undefined) return;
    this.#compared?.add(name);
    this.#accepted.meet(tool, this.#isNew);
  }

  compareAll(): void {
    if (this.#compared !== undefined) for (const name of this.#listed().keys()) this.compare(name);
    this.#compared = undefined;
  }

  /** Like `compareAll`, with pauses, because thousands of tools take tens of milliseconds. */
  async compareInTurns(): Promise<void> {
    const turns = createTurns(comparedAtOnce);
    for (const name of this.#listed().keys()) {
      this.compare(name);
      const next = turns.done(1);
      if (next) await next;
    }
  }
}

function approvalKeyOf(tool: CatalogTool, drift: readonly Difference[]): string {
  return JSON.stringify([definitionDigest(tool), drift]);
}

/** The tools by name. Creates the map only when it is needed: for thousands of tools it takes milliseconds. */
function byName(tools: readonly CatalogTool[]): () => ReadonlyMap<string, CatalogTool> {
  let made: Map<string, CatalogTool> | undefined;
  return () => {
    made ??= new Map(tools.map((tool) => [tool.name, tool]));
    return made;
  };
}

/** Shows the whole definition as new, because there is no earlier definition to compare with. */
function wholeOf(tool: CatalogTool): readonly Difference[] {
  return [{ member: "definition", after: definitionOf(tool) }];
}
