// A whole authorization server, the npm package oidc-provider as it is, with fresh keys each time it starts.
// node oidc_provider.mjs PORT RESOURCE ALGORITHM    OPAQUE in the place of an algorithm: tokens to ask about
// a fourth argument adds a client of the vault, with refresh tokens that are valid once, and the device flow; a fifth
// is the life of access tokens in seconds; a sixth lets it read client id metadata documents and register no clients
import { generateKeyPairSync } from 'node:crypto';
import { Provider } from 'oidc-provider';

const [port, resource, algorithm, vault, seconds, documents] = process.argv.slice(2);
const kinds = { RS256: ['rsa', { modulusLength: 2048 }], ES256: ['ec', { namedCurve: 'P-256' }], EdDSA: ['ed25519', {}], Ed25519: ['ed25519', {}] };
const made = (name) => generateKeyPairSync(...kinds[name]).privateKey.export({ format: 'jwk' });
// people log in by a form of its own, whatever they say
const provider = new Provider(`http://127.0.0.1:${port}`, {
  clients: [
    {
      client_id: 'the tools',
      client_secret: 'tools:secret/0123456789 +%',
      grant_types: [],
      redirect_uris: [],
      response_types: [],
    },
    ...(vault
      ? [
          {
            client_id: 'vault',
            client_secret: 'vault-secret-0123456789',
            application_type: 'native',
            grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
            redirect_uris: ['/callback', '/login/callback', '/vault/identity', '/vault/callback'].map((path) => `http://127.0.0.1${path}`),
          },
        ]
      : []),
  ],
  ...(vault ? { rotateRefreshToken: true, issueRefreshToken: () => true } : {}),
  scopes: ['openid', 'work', 'other', ...(vault ? ['offline_access'] : [])],
  jwks: { keys: [...new Set(['RS256', algorithm])].filter((name) => name in kinds).map((name) => ({ ...made(name), use: 'sig', alg: name })) },
  // documents of this machine, which a provider elsewhere would not read
  fetch: (url, { method, headers, redirect }) => fetch(url, { method, headers, redirect }),
  ttl: { AccessToken: Number(seconds) },
  pkce: { required: () => true },
  features: {
    introspection: { enabled: true, allowedPolicy: (context, client) => client.clientId === 'the tools' },
    revocation: { enabled: true },
    deviceFlow: { enabled: Boolean(vault) },
    devInteractions: { enabled: true },
    registration: { enabled: !documents },
    ...(documents ? { clientIdMetadataDocument: { enabled: true, ack: 'draft-02' } } : {}),
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: (context, audience) => ({
        audience,
        scope: 'work other',
        accessTokenTTL: Number(seconds),
        ...(algorithm === 'OPAQUE'
          ? { accessTokenFormat: 'opaque' }
          : { accessTokenFormat: 'jwt', jwt: { sign: { alg: algorithm } } }),
      }),
    },
  },
});
provider.listen(Number(port), '127.0.0.1', () => console.log('listening'));
