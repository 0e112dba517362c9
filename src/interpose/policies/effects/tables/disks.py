"""Programs that write to, format, partition and mount disks and volumes."""

from __future__ import annotations

from collections.abc import Iterator

from ..rows import Arguments, Found, Program, Row

__all__ = ["PROGRAMS"]


def _mkfs(arguments: Arguments) -> Iterator[Found]:
    """Read mkfs: a device is erased, an image is a file that is written."""
    for word in arguments.operands:
        if word.startswith("/dev/") or word[:1] == "\0":
            yield Found("format-disk", word)
        elif not word.isdigit():
            yield Found("write-files", word)


def _devices(arguments: Arguments) -> Iterator[Found]:
    """Read programs that take devices over; names of volumes are no devices."""
    yield from (Found("disk-write", word) for word in arguments.operands if word.startswith("/dev/"))


def _partitions(arguments: Arguments) -> Iterator[Found]:
    """Read programs that write partition tables: of a device, or of an image in a file."""
    for word in arguments.operands[:1]:
        is_file = "/" in word or "." in word
        yield Found("write-files" if is_file and not word.startswith("/dev/") else "disk-write", word)


_ZPOOL = "destroy|labelclear|remove|split|offline|detach|clear|initialize"

PROGRAMS = {
    "mkfs": Program(
        (Row("", ("-n", "-V", "-N")), Row(_mkfs)),
        options="t=,type= L= U= n N= m= b= F q V,version f l= i= I= O= E= C= s= S= v c k K d= r= R= T= M=",
        aka="mkfs.ext2 mkfs.ext3 mkfs.ext4 mke2fs",
    ),
    "mkfs.*": Program(
        (Row(_mkfs),),
        options="L= U= n= N= m= b= F= q V f l= i= I= O= E= C S= s= v c k K d= r= R= T= M= p=",
        aka="mkswap mkdosfs newfs newfs_* mkntfs",
    ),
    "fdisk": Program(
        (Row("read-disk:all", ("-l", "-s", "-v", "-V", "-x")), Row(_partitions)),
        options="l,list s,getsz v,version V x,list-details b=,sector-size= o=,output= t=,type= w= W= C= H= "
        "S= L=? u=? B n c=?",
    ),
    "gdisk": Program((Row("read-disk:all", "-l"), Row(_partitions)), options="l", aka="cgdisk cfdisk"),
    "sfdisk": Program(
        (
            Row("read-disk:all", ("-l", "-d", "-s", "-J", "-F", "-V", "-n", "-v", "-T", "-g", "--part-uuid #<=2")),
            Row(_partitions),
        ),
        options="l,list d,dump s,show-size J,json F,list-free V,verify n,no-act v,version T,list-types g,show-geometry "
        "a,append A,activate N=,partno= X=,label= Y=,label-nested= b,backup O=,backup-file= w= W= q f,force delete "
        "wipe= wipe-partitions= lock=? move-data=? part-uuid",
    ),
    "sgdisk": Program(
        (
            Row(
                "disk-write:all",
                ("-Z", "-z", "-o", "-n", "-d", "-t", "-c", "-g", "-m", "-G", "-R", "-l", "-s", "-e", "-A"),
            ),
            Row(""),
        ),
        options="Z,zap-all z,zap o,clear n=,new= d=,delete= t=,typecode= c=,change-name= g,mbrtogpt m=,gpttombr= "
        "G,randomize-guids R=,replicate= l=,load-backup= s,sort e,move-second-header A=,attributes= p,print P,pretend "
        "v,verify i=,info= b=,backup= E F f a= u= U= L O",
    ),
    "parted": Program(
        (
            Row("read-disk:first", ("-l", "1:print", "*:print|unit !*:mk*|rm|resize*|set|name|toggle|rescue|disk_*")),
            Row(_partitions),
        ),
        options="l,list s,script m,machine a=,align= f,fix j,json",
    ),
    "blockdev": Program(
        (
            Row(
                "disk-write:all", ("--setro", "--setrw", "--setra", "--setbsz", "--flushbufs", "--rereadpt", "--setfra")
            ),
            Row("read-disk:all", "#>=1"),
        ),
        options="setra= setbsz= setfra= setro setrw flushbufs rereadpt report getsize64 getsz getss getro v q",
    ),
    "growpart": Program((Row("", ("-N",)), Row("disk-write:first", "#>=1")), options="N,dry-run v u= f= free-percent="),
    "resize2fs": Program(
        (
            Row("", ("-n", "-N", "-P", "--check", "-l", "-p !*:-f|-y|-a")),
            Row("disk-write:all", "*:/dev/*"),
        ),
        options="n N P l f p y a c d= S= z= M check",
        aka="tune2fs xfs_growfs xfs_admin e2fsck fsck fsck.* xfs_repair ntfsresize ntfsfix debugfs zerofree e2image",
    ),
    "partprobe": Program((Row("read-disk:all", ("-s", "-d")), Row("mount:all"))),
    "wipefs": Program(
        (Row("", "-n"), Row("format-disk:all", ("-a", "-o"))),
        options="a,all n,no-act o=,offset= f,force t=,types= p,parsable J,json b,backup=? i,noheadings O=,output= q",
    ),
    "blkdiscard": Program((Row("format-disk:all", "#>=1"),), options="o=,offset= l=,length= p=,step= s,secure z v f"),
    "badblocks": Program((Row("format-disk:all", "-w"),), options="w n s v f o= b= c= i= p= t= d= e= B X"),
    "hdparm": Program(
        (
            Row(
                "format-disk:all",
                tuple(
                    f"--{one}"
                    for one in "security-erase security-erase-enhanced trim-sector-ranges trim-sector-ranges-stdin "
                    "make-bad-sector dco-restore write-sector security-set-pass".split()
                ),
            ),
        ),
        options="security-erase= security-erase-enhanced= security-set-pass= user-master= write-sector= "
        "make-bad-sector= "
        "trim-sector-ranges= trim-sector-ranges-stdin dco-restore",
    ),
    "nvme": Program(
        (
            Row(
                "format-disk:first",
                (),
                "format|sanitize|write|write-zeroes|write-uncor|delete-ns|fw-commit|fw-download|dsm",
            ),
        )
    ),
    "sg_format": Program((Row("format-disk:all", "#>=1"),), aka="sg_sanitize sg_unmap nwipe scrub"),
    "cryptsetup": Program(
        (
            Row("read-disk:all", (), "luksDump|isLuks|luksUUID"),
            Row(
                "format-disk:first",
                (),
                "luksFormat|luksErase|erase|luksRemoveKey|luksKillSlot|reencrypt|luksHeaderRestore|luksConvertKey|convert",
            ),
            Row("disk-write:first", (), "luksAddKey|luksChangeKey|config|token|repair|luksUUID"),
            Row("mount:all", (), "open|luksOpen|close|luksClose|resize|luksSuspend|luksResume|remove|create|plainOpen"),
        ),
        options="c=,cipher= s=,key-size= h=,hash= d=,key-file= S=,key-slot= q,batch-mode type= i=,iter-time= y label= "
        "pbkdf= header= header-backup-file= v,verbose",
    ),
    "lvremove": Program(
        (Row("", ("-t",)), Row("format-disk:each")),
        options="t,test f,force y,yes n= L= l= r v q A= S= d",
        aka="vgremove pvremove lvreduce vgreduce pvmove lvconvert vgmerge vgsplit",
    ),
    "lvcreate": Program(
        (Row("", ("-t",)), Row("format-disk:last", ("-L=-*", "-l=-*")), Row(_devices)),
        options="L=,size= l=,extents= n=,name= s,snapshot r,resizefs t,test T= V= i= I= m= y,yes W=",
        aka="vgcreate pvcreate lvextend lvresize vgextend pvresize lvchange vgchange pvchange lvrename "
        "vgrename vgimport "
        "vgexport vgcfgrestore",
    ),
    "lvm": Program(
        (
            Row("format-disk:each", (), "lvremove|vgremove|pvremove|lvreduce|vgreduce|pvmove|lvconvert"),
            Row("disk-write:each", (), "lvcreate|vgcreate|pvcreate|lvextend|lvresize|vgextend"),
        )
    ),
    "mdadm": Program(
        (
            Row("", ("--detail", "-D", "--examine", "-E", "--query", "-Q", "--monitor", "-F")),
            Row(
                "format-disk:each",
                (
                    "--zero-superblock",
                    "--stop",
                    "-S",
                    "--remove",
                    "-r",
                    "--fail",
                    "-f",
                    "--create",
                    "-C",
                    "--grow",
                    "-G",
                ),
            ),
        ),
        options="n=,raid-devices= l=,level= D,detail E,examine Q,query F,monitor,follow S,stop r,remove f,fail "
        "C,create G,grow zero-superblock a,add s,scan",
    ),
    "zpool": Program(
        (
            Row("", "-n"),
            Row("format-disk:each", (), _ZPOOL),
            Row("disk-write:each", (), "create|add|attach|replace|import|export|upgrade|trim|reguid"),
        ),
        options="n f r o= O= m= R= d=",
    ),
    "zfs": Program(
        (
            Row("", "-n"),
            Row("format-disk:each", (), "destroy|rollback"),
            Row("disk-write:each", (), "receive|recv|promote"),
        ),
        options="n r R f v p d= o= x=",
    ),
    "btrfs": Program(
        (
            Row(
                "format-disk:each",
                (),
                "subvolume delete|sub del|su delete|sub delete|device delete|device remove|dev del",
            ),
            Row(
                "disk-write:each",
                (),
                "filesystem resize|fi resize|balance start|rescue|device add|device replace|replace start|check",
            ),
        )
    ),
    "dmsetup": Program((Row("disk-write:each", (), "remove|remove_all|wipe_table|clear|load|create|reload|suspend"),)),
    "losetup": Program(
        (Row("", ("-a", "-l", "-j", "-c")), Row("mount:each", ("-d", "-D", "-f", "#>=2"))),
        options="a,all l,list j= d,detach D,detach-all f,find P r o= c J n O= show",
    ),
    "mount": Program(
        (
            Row("", ("#==0 !-a", "-l", "-f")),
            Row("mount:each"),
        ),
        options="a,all r,read-only w t=,types= o=,options= B,bind R,rbind M,move v l L= U= f,fake n N= T= "
        "source= target= m=?",
    ),
    "umount": Program(
        (Row("mount:each", ("-a", "#>=1")),),
        options="a,all l,lazy f,force R v n d t= O= q",
        aka="swapoff swapon eject udisksctl",
    ),
    "diskutil": Program(
        (
            Row(
                "format-disk:each",
                (),
                "eraseDisk|eraseVolume|reformat|partitionDisk|zeroDisk|secureErase|randomDisk|apfs deleteContainer|"
                "apfs deleteVolume|apfs eraseVolume|splitPartition|mergePartitions|cs delete|apfs deleteVolumeGroup|"
                "appleRAID delete|resetFusion",
            ),
            Row("mount:each", (), "unmount*|mount*|rename*|apfs resizeContainer|eject|resizeVolume"),
        )
    ),
    "grub-install": Program(
        (Row("disk-write:all", "#>=1"),), options="target= boot-directory= root-directory= v", aka="extlinux"
    ),
    "restore": Program((Row("disk-write:last", "-r *:/dev/*"),), options="r f= b= s= v y N h i x t R C T= a d c k l m"),
    "clear-disk": Program((Row("format-disk:each"),), aka="format-volume initialize-disk remove-partition"),
    "format": Program((Row("format-disk:first", "1:?:"),), aka="format.com"),
    "diskpart": Program((Row("disk-write"),)),
}
