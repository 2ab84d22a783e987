/**
 * How requests reach Gemini: the Gemini API or Vertex AI, with a key or an account. It is public, so it uses no type of
 * Google's package, which needs DOM types.
 */

/** The API and its credentials. */
export type GeminiAccess =
  | {
      readonly kind: "key";
      readonly apiKey: string;
      /** The environment variable of the key, for messages. */
      readonly variable: string;
      /** Vertex AI in express mode accepts keys too. */
      readonly isVertex?: boolean;
    }
  | {
      readonly kind: "vertex";
      readonly project: string;
      readonly location: string;
      /** Returns the authorization headers of the user's Google account. */
      readonly authorize: () => Promise<Readonly<Record<string, string>>>;
    };

/** The model's name in the URL of a request. */
export function modelPath(access: GeminiAccess, name: string): string {
  if (access.kind === "key" || /^(?:projects|publishers)\//.test(name)) return name;
  return `projects/${access.project}/locations/${access.location}/publishers/google/models/${name}`;
}
