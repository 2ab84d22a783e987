/**
 * Re-exports the parts of Google's library that Fairlead uses. It is a CommonJS package. In a split bundle, importing
 * it dynamically would give no named exports.
 */

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
