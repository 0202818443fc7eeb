
define internal ptr @reprise.allocate(i64 %n) #9999 {
entry:
  %all = add i64 %n, 32
  %head = call ptr @calloc(i64 1, i64 %all)
  %object = getelementptr inbounds i8, ptr %head, i64 32
  ret ptr %object
}

define internal void @reprise.free(ptr %object) #9999 {
entry:
  %head = getelementptr inbounds i8, ptr %object, i64 -32
  call void @free(ptr %head)
  ret void
}

define internal void @reprise.raise(ptr %object, i32 %class, ptr %destroy, ptr %what) #9999 {
entry:
  %head = getelementptr inbounds i8, ptr %object, i64 -32
  store i32 %class, ptr %head
  %at.destroy = getelementptr inbounds i8, ptr %head, i64 8
  store ptr %destroy, ptr %at.destroy
  %at.what = getelementptr inbounds i8, ptr %head, i64 24
  store ptr %what, ptr %at.what
  store ptr %object, ptr @reprise.exception
  store i32 %class, ptr @reprise.class
  ret void
}

define internal void @reprise.resume(ptr %object) #9999 {
entry:
  %head = getelementptr inbounds i8, ptr %object, i64 -32
  %class = load i32, ptr %head
  store ptr %object, ptr @reprise.exception
  store i32 %class, ptr @reprise.class
  ret void
}

define internal void @reprise.rethrow() #9999 {
entry:
  %head = load ptr, ptr @reprise.caught
  %at.handlers = getelementptr inbounds i8, ptr %head, i64 4
  %handlers = load i32, ptr %at.handlers
  %again = sub i32 0, %handlers
  store i32 %again, ptr %at.handlers
  %object = getelementptr inbounds i8, ptr %head, i64 32
  call void @reprise.resume(ptr %object)
  ret void
}

define internal ptr @reprise.pointer(ptr %object) #9999 {
entry:
  %at.what = getelementptr inbounds i8, ptr %object, i64 -8
  %what = load ptr, ptr %at.what
  ret ptr %what
}

define internal ptr @reprise.begin(ptr %object) #9999 {
entry:
  %head = getelementptr inbounds i8, ptr %object, i64 -32
  %at.handlers = getelementptr inbounds i8, ptr %head, i64 4
  %handlers = load i32, ptr %at.handlers
  %again = icmp slt i32 %handlers, 0
  %minus = sub i32 0, %handlers
  %before = select i1 %again, i32 %minus, i32 %handlers
  %now = add i32 %before, 1
  store i32 %now, ptr %at.handlers
  %last = load ptr, ptr @reprise.caught
  %same = icmp eq ptr %last, %head
  br i1 %same, label %done, label %push

push:
  %at.next = getelementptr inbounds i8, ptr %head, i64 16
  store ptr %last, ptr %at.next
  store ptr %head, ptr @reprise.caught
  br label %done

done:
  %what = call ptr @reprise.pointer(ptr %object)
  ret ptr %what
}

define internal void @reprise.end() #9999 {
entry:
  %head = load ptr, ptr @reprise.caught
  %none = icmp eq ptr %head, null
  br i1 %none, label %done, label %some

some:
  %at.handlers = getelementptr inbounds i8, ptr %head, i64 4
  %handlers = load i32, ptr %at.handlers
  %again = icmp slt i32 %handlers, 0
  %step = select i1 %again, i32 1, i32 -1
  %now = add i32 %handlers, %step
  store i32 %now, ptr %at.handlers
  %more = icmp ne i32 %now, 0
  br i1 %more, label %done, label %pop

pop:
  %at.next = getelementptr inbounds i8, ptr %head, i64 16
  %next = load ptr, ptr %at.next
  store ptr %next, ptr @reprise.caught
  br i1 %again, label %done, label %last

last:
  %at.destroy = getelementptr inbounds i8, ptr %head, i64 8
  %destroy = load ptr, ptr %at.destroy
  %plain = icmp eq ptr %destroy, null
  %object = getelementptr inbounds i8, ptr %head, i64 32
  br i1 %plain, label %release, label %destruct

destruct:
  call void %destroy(ptr %object)
  br label %release

release:
  call void @reprise.free(ptr %object)
  br label %done

done:
  ret void
}
