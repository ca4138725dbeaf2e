"""Checks assets/scaling/mpijob.yaml: its pods against Kubernetes' published schema (kubernetes-validate, PyPI), and the
rest against the keys, types and choices of the MPI Operator's resource, kubeflow.org/v2beta1
(manifests/base/kubeflow.org_mpijobs.yaml of kubeflow/mpi-operator).
usage: check_manifest.py MANIFEST; needs kubernetes-validate, jsonschema and PyYAML"""

import sys

import jsonschema
import kubernetes_validate
import yaml

WHOLE = {"type": "integer", "minimum": 0}
REPLICA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["replicas", "template"],
    "properties": {
        "replicas": WHOLE,
        "restartPolicy": {"enum": ["Always", "OnFailure", "Never", "ExitCode"]},
        "template": {"type": "object"},
    },
}
JOB = {
    "type": "object",
    "additionalProperties": False,
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "kubeflow.org/v2beta1"},
        "kind": {"const": "MPIJob"},
        "metadata": {"type": "object", "required": ["name"]},
        "spec": {
            "type": "object",
            "additionalProperties": False,
            "required": ["mpiReplicaSpecs"],
            "properties": {
                "slotsPerWorker": WHOLE,
                "sshAuthMountPath": {"type": "string"},
                "mpiImplementation": {"enum": ["OpenMPI", "Intel"]},
                "waitForWorkers": {"type": "boolean"},
                "runPolicy": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        "cleanPodPolicy": {"enum": ["None", "Running", "All"]},
                        "ttlSecondsAfterFinished": WHOLE,
                        "activeDeadlineSeconds": WHOLE,
                        "backoffLimit": WHOLE,
                        "suspend": {"type": "boolean"},
                        "schedulingPolicy": {"type": "object"},
                    },
                },
                "mpiReplicaSpecs": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["Launcher", "Worker"],
                    "properties": {"Launcher": REPLICA, "Worker": REPLICA},
                },
            },
        },
    },
}


def main(path):
    with open(path, encoding="utf-8") as file:
        job = yaml.safe_load(file)
    jsonschema.validate(job, JOB)
    for name, replica in job["spec"]["mpiReplicaSpecs"].items():
        template = replica["template"]
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name.lower()}, "spec": template["spec"]}
        kubernetes_validate.validate(pod, "1.30", strict=True)
        print(f"{name}: {replica['replicas']} pods fit the schema")


if __name__ == "__main__":
    main(sys.argv[1])
