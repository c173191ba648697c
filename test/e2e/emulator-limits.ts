/**
 * What the emulator of the rehearsal cannot do, by the title of the test that is skipped there, and why.
 * Nothing else is skipped there.
 */
export const emulatorLimits: Readonly<Record<string, string>> = {
  'a gzip body of JSON is kept as what it holds':
    'a body whose content type is JSON reaches the function as text, so gzip bytes arrive damaged',
  'a line feed in a key is 400 on every method':
    'no IAM policy matches a path with a line feed, so the caller gets 403',
  'a dot segment at the end of a path is not resolved away':
    'it normalizes such a path differently than URL does, so the signature of the client does not fit',
  'a parameter without a name is 400':
    'it drops such a parameter before it checks the signature, which then does not fit, so the caller gets 403',
  'OPTIONS is a method like another one: 405 with Allow':
    'it answers OPTIONS itself, for CORS, which this deployment does not have',
};
