import { type LookupAddress, type LookupAllOptions, lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { environment } from '../environment.ts';
import { DormouseError } from '../errors.ts';

/** Whom a process may send to besides public addresses over https. */
export interface Reach {
  /** This machine itself, also over http. */
  readonly loopback: boolean;
  /** Private networks, such as a VPC. */
  readonly privateAddresses: boolean;
}

/** In Lambda, what listens on the machine itself is the runtime, which no URL is to reach. */
export function reachOf(env: Readonly<Record<string, string | undefined>>): Reach {
  return {
    loopback: !env.AWS_LAMBDA_FUNCTION_NAME,
    privateAddresses: env[environment.allowPrivateAddresses] === 'true',
  };
}

/** `dns.lookup`, or what stands for it in a test. */
export type LookupAll = (
  hostname: string,
  options: LookupAllOptions,
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The host has an address that nothing may be sent to. */
class AddressRefusedError extends DormouseError {
  readonly code = 'address_refused';
}

/** RFC 1918, RFC 6598 and RFC 4193: what a VPC may have. */
const privateRanges: ReadonlySet<string> = new Set(['private', 'carrierGradeNat', 'uniqueLocal']);
/** What AWS serves each machine itself, its credentials included: what 169.254.169.254 is among those of IPv4. */
const machineServices = ipaddr.IPv6.parseCIDR('fd00:ec2::/32');
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * A `lookup` for the connection itself that judges what it finds, so that the connection is made to an address that was
 * judged: whoever asks the DNS twice may be told another one the second time.
 *
 * @throws AddressRefusedError where the URL has an address, which is not looked up, and it is refused
 */
export function checkedLookup(url: URL, reach: Reach, lookup: LookupAll = systemLookup): LookupFunction {
  const refusal = (address: string) => refusalOf(address, url, reach);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const refused = isIP(host) === 0 ? undefined : refusal(host);
  if (refused !== undefined) throw refused;
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, addresses) => {
      const problem = error ?? addresses.map(({ address }) => refusal(address)).find(Boolean);
      if (problem) callback(problem, []);
      else if (options.all) callback(null, addresses);
      else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
    });
}

/** Why nothing is sent to an address, undefined where it may be. What is not known to be public is not. */
function refusalOf(
  address: string,
  { protocol }: URL,
  { loopback, privateAddresses }: Reach,
): AddressRefusedError | undefined {
  if (!ipaddr.isValid(address)) return new AddressRefusedError('its address cannot be read');
  // One of IPv4 that is written as one of IPv6 is the one of IPv4.
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  if (range === 'loopback' && loopback) return undefined;
  if (protocol !== 'https:')
    return new AddressRefusedError('http is for a server on your own machine only: use https');
  const isOfMachine = parsed.kind() === 'ipv6' && parsed.match(machineServices);
  if (privateRanges.has(range) && !isOfMachine) {
    if (privateAddresses) return undefined;
    const hint = 'the setting worker.allowPrivateAddresses allows those of private networks';
    return new AddressRefusedError(`its address is not public (${range}); ${hint}`);
  }
  const isPublic = range === 'unicast' && (parsed.kind() === 'ipv4' || parsed.match(globalUnicast));
  return isPublic ? undefined : new AddressRefusedError(`its address is not public (${range})`);
}
