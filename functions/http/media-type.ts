/** Only this media type, with or without parameters: what looks similar (`…+json`) is kept as opaque bytes. */
export function isJson(contentType: string): boolean {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() === 'application/json';
}
