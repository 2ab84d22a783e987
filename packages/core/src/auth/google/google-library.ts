/** Re-exports Google's library by name, because a split bundle gives a CommonJS package no named exports in a dynamic import. */

export {
  AwsRequestSigner,
  Compute,
  ExternalAccountAuthorizedUserClient,
  gcpMetadata,
  IdentityPoolClient,
  Impersonated,
  JWT,
  UserRefreshClient,
} from "google-auth-library";
