import { Logger } from '@aws-lambda-powertools/logger';

let own: Logger | undefined;

/** Made on first use: a host sets its level by the environment, after it has loaded the handlers. */
export function logger(): Logger {
  own ??= new Logger({ serviceName: 'dormouse' });
  return own;
}
