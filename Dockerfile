# slant, R and all that it needs, on Debian. Run alone, it runs the demo and shows the report:
#   docker build -t slant .
#   docker run --rm -p 8000:8000 slant             then open http://localhost:8000/
# In a folder of your own:
#   docker run --rm -it -v "$PWD:/data" slant slant collect --study rmiat --simulated --pilot 20
FROM debian:bookworm-slim
ENV LANG=C.UTF-8 PATH=/opt/slant/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git make python3
COPY . /opt/slant
WORKDIR /opt/slant
RUN make setup
RUN rm -rf /var/lib/apt/lists /var/cache/apt /root/.cache && slant analyze doctor
WORKDIR /data
CMD ["/opt/slant/.venv/bin/python", "/opt/slant/tools/demo.py", "--serve", "0.0.0.0:8000"]
