# slant, R and all that it needs, on Debian. From a clone of the repository, and then in a folder of your own:
#   docker build -t slant .
#   docker run --rm -it -v "$PWD:/data" slant collect --study rmiat --simulated --pilot 20
FROM debian:bookworm-slim
ENV LANG=C.UTF-8 PATH=/opt/slant/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates make python3
COPY . /opt/slant
WORKDIR /opt/slant
RUN make setup
RUN rm -rf /var/lib/apt/lists /var/cache/apt /root/.cache && slant analyze doctor
WORKDIR /data
CMD ["slant", "--help"]
