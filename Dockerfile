# An image of ArmaRL that contains the compiled kernels. The first step therefore compiles nothing,
# and the image works for users other than root and on a read-only file system.
#
#   docker build --tag armarl .                                     CPU
#   docker build --tag armarl --build-arg EXTRA=train,cuda .        with the compiler for NVIDIA GPUs
#   docker run --rm --read-only --user 1000 armarl armarl evaluate armadora-2p greedy --games 100
#
# The kernels run on every x86-64 processor of level 3 (2013 and later).
FROM python:3.11-slim-bookworm

ARG EXTRA=train
ARG LEVEL=x86-64-v3

WORKDIR /build
COPY . .
RUN pip install --no-cache-dir --constraint constraints.txt ".[${EXTRA}]" \
    && rm -rf /build

WORKDIR /work
ENV ARMARL_CACHE_DIR=/opt/armarl
RUN armarl compile --cpu "${LEVEL}" \
    && useradd --create-home --uid 1000 player
USER 1000

CMD ["armarl", "--help"]
