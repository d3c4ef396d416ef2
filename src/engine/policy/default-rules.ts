// The rules that hold where no policy is given: private keys cannot be opened, files of credentials show their keys
// and not their values. Templates, which are meant to be read, stay readable.
import type { PolicyRule } from "./rule.ts";

export const defaultRules: readonly PolicyRule[] = [
  {
    name: "private keys",
    access: "deny",
    paths: [
      "*.{pem,key,p12,pfx,jks,keystore,ppk,kdbx}",
      "id_{rsa,dsa,ecdsa,ed25519}{,_sk}",
      "**/.ssh/**",
      "**/.gnupg/**",
      "!*.pub",
      "!**/.ssh/{config,known_hosts,authorized_keys}",
      "!*{public,cert,chain,ca,fullchain}.pem",
    ],
  },
  {
    name: "credentials",
    access: "mask",
    paths: [
      ".env",
      ".env.*",
      "*.env",
      ".envrc",
      "!.env.{example,template,sample,dist,defaults,schema}",
      "!*.{example,template,sample,dist}.env",
      "{.npmrc,.pypirc,.netrc,_netrc,.pgpass,.my.cnf,.htpasswd,.git-credentials,.dockercfg}",
      "**/.docker/config.json",
      "**/.aws/credentials",
      "**/.kube/config",
      "**/.config/gh/hosts.yml",
      "{credentials,secrets}.{json,yaml,yml,toml,ini,properties}",
      "*.{tfvars,auto.tfvars}",
    ],
  },
];
