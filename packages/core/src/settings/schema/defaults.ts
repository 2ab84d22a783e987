/** Default values of settings. Times are in milliseconds. */

/** The value that applies if no settings file contains the key. */
export const defaults = {
  timeout: 600_000,
  connectTimeout: 30_000,
  callTotal: 3_600_000,
  callsPerServer: 16,
  callsTotal: 64,
  catalogBytes: 64_000_000,
  resultTokens: 8_000,
} as const;
