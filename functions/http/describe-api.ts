import { type Handle, httpHandler } from './http-handler.ts';
import { openApiDocument } from './openapi/document.ts';
import { json } from './response.ts';

/** `GET /v1/openapi.json` */
const describeApi: Handle = async () => json(200, openApiDocument);

export const handler = httpHandler('describe-api', describeApi);
