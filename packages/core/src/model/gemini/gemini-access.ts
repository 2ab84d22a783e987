/** Whether requests go to the Gemini API or to Vertex AI, and in whose name. Public, so it mentions no type of the API's package: that needs DOM types. */

export type GeminiAccess =
  | {
      readonly kind: "key";
      readonly apiKey: string;
      /** The variable it is from, for messages. */
      readonly variable: string;
      /** Vertex AI in its express mode takes keys too. */
      readonly isVertex?: boolean;
    }
  | {
      readonly kind: "vertex";
      readonly project: string;
      readonly location: string;
      /** The headers of a request in the name of the person's Google account. */
      readonly authorize: () => Promise<Readonly<Record<string, string>>>;
    };

/** Its name in the address of a request. */
export function modelPath(access: GeminiAccess, name: string): string {
  if (access.kind === "key" || /^(?:projects|publishers)\//.test(name)) return name;
  return `projects/${access.project}/locations/${access.location}/publishers/google/models/${name}`;
}
