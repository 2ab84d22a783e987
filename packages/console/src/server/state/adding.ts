/**
 * Finding and adding servers of MCP registries. What the person has seen is kept here and is what is written: between the
 * view of a server and the yes, nothing is read from a registry again.
 */

import { randomUUID } from "node:crypto";
import { HostError } from "@fairlead/core/errors";
import type {
  AddChoices,
  AddedPublished,
  AddingCommands,
  FoundPublished,
  PlannedPublished,
} from "../../protocol/adding.ts";
import type { Params, Result } from "../../protocol/commands.ts";
import { anIndex, anObject, anyText, aText, type Handlers, listOf, oneOf, optional } from "./parameters.ts";

/** The steps of adding a server. The program that contains the console provides them: it writes settings. */
export interface ServerAdding {
  search(question: Params<"add/search">, signal: AbortSignal): Promise<Result<"add/search">>;
  find(wanted: Params<"add/find">, signal: AbortSignal): Promise<AddOffer>;
}

/** A server that the person looks at. */
export interface AddOffer {
  readonly shown: Omit<FoundPublished, "offerId">;
  /** @throws HostError if an answer is missing or does not fit */
  plan(choices: AddChoices): Promise<AddPlan>;
}

/** What would be written. */
export interface AddPlan {
  readonly shown: Omit<PlannedPublished, "plan">;
  /** @throws HostError `denied` if something was not confirmed; the plan can then be written later */
  write(confirmed: Params<"add/write">["confirmed"]): Promise<AddedPublished>;
}

/** A page keeps one of each; several tabs can be open. */
const mostKept = 16;

export class Adding implements Disposable {
  readonly handlers: Handlers<AddingCommands>;
  readonly #found = new Kept<AddOffer>();
  /** With the secrets that the person has typed. */
  readonly #plans = new Kept<AddPlan>();

  constructor(adding: ServerAdding = noAdding) {
    this.handlers = {
      "add/search": {
        takes: { words: aText, cursor: optional(aText) },
        run: (question, { signal }) => adding.search(question, signal),
      },
      "add/find": {
        takes: { name: aText, version: optional(aText), registry: optional(aText), way: optional(anIndex) },
        run: async (wanted, { signal }) => {
          const found = await adding.find(wanted, signal);
          return { ...found.shown, offerId: this.#found.add(found) };
        },
      },
      "add/plan": {
        takes: {
          offerId: aText,
          name: aText,
          scope: oneOf("project", "user"),
          inputs: textLists,
          sandbox: oneOf("read", "write", "off"),
        },
        run: async ({ offerId, ...choices }) => {
          const plan = await this.#found.get(offerId).plan(choices);
          return { ...plan.shown, plan: this.#plans.add(plan) };
        },
      },
      "add/write": {
        takes: { plan: aText, confirmed: listOf(oneOf("unproven", "unboxed")) },
        run: async ({ plan: id, confirmed }) => {
          const plan = this.#plans.get(id);
          // Two windows could say yes at once.
          this.#plans.remove(id);
          return plan.write(confirmed).catch((error: unknown) => {
            this.#plans.put(id, plan);
            throw error;
          });
        },
      },
    };
  }

  [Symbol.dispose](): void {
    this.#found.clear();
    this.#plans.clear();
  }
}

/** The latest few, by names that only the page knows. */
class Kept<T> {
  readonly #kept = new Map<string, T>();

  add(one: T): string {
    const id = randomUUID();
    this.put(id, one);
    return id;
  }

  put(id: string, one: T): void {
    this.#kept.set(id, one);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > mostKept && oldest !== undefined) this.#kept.delete(oldest);
  }

  /** @throws HostError `not_found` */
  get(id: string): T {
    const found = this.#kept.get(id);
    if (found !== undefined) return found;
    throw new HostError("not_found", "what the page shows of this server is no longer current", {
      next: "open the server again",
    });
  }

  remove(id: string): void {
    this.#kept.delete(id);
  }

  clear(): void {
    this.#kept.clear();
  }
}

const textLists = (value: unknown, name: string): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(
    Object.entries(anObject(value, name)).map(([key, list]) => [key, listOf(anyText)(list, `${name}.${key}`)]),
  );

const cannot = async (): Promise<never> => {
  throw new HostError("usage", "this console cannot add servers", { next: "fairlead mcp search WORDS" });
};
const noAdding: ServerAdding = { search: cannot, find: cannot };
