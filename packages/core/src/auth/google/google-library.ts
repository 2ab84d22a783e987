/**
 * Re-exports Google's library by name: in a split bundle, the dynamic import of a CommonJS package has no named
 * exports.
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
