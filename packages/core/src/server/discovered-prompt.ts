/** One prompt of one server, as a registry contains it. */

import type { PromptResult } from "@fairlead/wire";
import { HostError } from "../errors.ts";
import {
  aFunction,
  anObject,
  aSignal,
  aString,
  expectArguments,
  optional,
  readMembers,
  type Wanted,
} from "../expect-arguments.ts";
import { generateValidName } from "../normalise/tool-name.ts";
import type { PromptArgument } from "./catalog.ts";

/** Values of a prompt's arguments, by name. */
export type PromptValues = Readonly<Record<string, string>>;

/** Options of `DiscoveredMCPPrompt`. */
export interface DiscoveredMCPPromptOptions {
  readonly serverName: string;
  readonly serverPromptName: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments?: readonly PromptArgument[] | undefined;
  readonly nameOverride?: string | undefined;
  /** Gets the prompt's messages from its server. */
  readonly get: (serverPromptName: string, values: PromptValues, signal?: AbortSignal) => Promise<PromptResult>;
}

const someValues: Wanted = {
  words: "an object of strings",
  accepts: (given) => anObject.accepts(given) && Object.values(given as object).every(aString.accepts),
};

const wantedOptions = {
  serverName: aString,
  serverPromptName: aString,
  title: optional(aString),
  description: optional(aString),
  arguments: optional({
    words: "a list of objects, each with a name",
    accepts: (given) => Array.isArray(given) && given.every(({ name }) => typeof name === "string"),
  }),
  nameOverride: optional(aString),
  get: aFunction,
};

/** One prompt of one server; `invoke` gets its messages. */
export class DiscoveredMCPPrompt {
  readonly name: string;
  readonly serverName: string;
  readonly serverPromptName: string;
  readonly title: string | undefined;
  /** The description that the server sent, not escaped. */
  readonly description: string;
  readonly arguments: readonly PromptArgument[];
  readonly #options: DiscoveredMCPPromptOptions;
  #nameOverride: string | undefined;

  constructor(options: DiscoveredMCPPromptOptions) {
    expectArguments("new DiscoveredMCPPrompt()", { options: [options, anObject] });
    this.#options = readMembers("new DiscoveredMCPPrompt()", options, wantedOptions, "options.");
    const { serverName, serverPromptName, nameOverride, title, description = "" } = this.#options;
    this.name = generateValidName(nameOverride ?? serverPromptName);
    this.serverName = serverName;
    this.serverPromptName = serverPromptName;
    this.title = title;
    this.description = description;
    this.arguments = this.#options.arguments ?? [];
    this.#nameOverride = nameOverride;
  }

  /** The `nameOverride` that was passed to the constructor. A registry may give the prompt another name. */
  get nameOverride(): string | undefined {
    return this.#nameOverride;
  }

  /** Returns the same prompt under the name that a registry gives it. */
  named(name: string): DiscoveredMCPPrompt {
    expectArguments("named()", { name: [name, aString] });
    const copy = new DiscoveredMCPPrompt({ ...this.#options, nameOverride: name });
    copy.#nameOverride = this.#nameOverride;
    return copy;
  }

  async invoke(values: PromptValues = {}, signal?: AbortSignal): Promise<PromptResult> {
    expectArguments("invoke()", { values: [values, someValues], signal: [signal, optional(aSignal)] });
    const { serverName, serverPromptName } = this;
    const missing = this.arguments.filter(({ name, required }) => required && !Object.hasOwn(values, name));
    if (missing.length > 0)
      throw new HostError(
        "arguments_invalid",
        `prompt ${serverPromptName} of "${serverName}" needs ${missing.map(({ name }) => name).join(", ")}`,
        { serverName },
      );
    return this.#options.get(serverPromptName, values, signal);
  }
}
